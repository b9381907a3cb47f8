# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Completion for bash: the options that --help lists, and files. Rectangles and properties are not completed.

_cudaconvolve()
{
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  case $current in
  -*)
    # shellcheck disable=SC2207 # options are words
    COMPREPLY=($(compgen -W "--help $("$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)" -- "$current"))
    ;;
  *)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    ;;
  esac
}

complete -F _cudaconvolve cudaconvolve-{background,blur,camera,compare,denoise,edges,faces,library,motionblur,multi-gpu,privacy}
complete -F _cudaconvolve cudaconvolve-{sharpen,tenbit,timedelta,tune}
