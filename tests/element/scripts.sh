#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the scripts of pipelines/ do beside the pixels: sources that stay as they are, files that give nothing or end too
# early, what --help lists and a run prints, machines that are not ready. Uses the build in CUDACONVOLVE_BUILD, and
# neither installs nor builds anything.
#
# Usage: tests/element/scripts.sh sources|stalled|cut|outside|help|statistics|unready|several|codecs|camera
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/examples.sh"

# keeps SCRIPT INPUT [ARGUMENT...]: it refuses to write the result over mine.mkv, which INPUT names too.
keeps()
{
  refuses 'would be overwritten by its own result; set OUTPUT' OUTPUT=mine.mkv "$pipelines/$1.sh" "${@:2}"
  [[ $(<mine.mkv) == precious ]] || fail "$*: overwrites its source"
}

# No script writes its result over its source, by whatever name that is given. What is in it does not matter.
test_sources()
{
  local name here=$PWD
  echo precious >mine.mkv
  ln -s mine.mkv symbolic.mkv
  ln mine.mkv hard.mkv
  ln -s . folder
  for name in mine.mkv symbolic.mkv hard.mkv folder/mine.mkv "file://$PWD/mine.mkv" "file://localhost$PWD/hard.mkv" \
    "file://$PWD/%6Dine%2emkv" "FILE://$PWD/folder/symbolic.mkv" "file://$PWD/mine.mkv#t=1" \
    "pushfile://$PWD/mine.mkv"; do
    keeps blur "$name"
  done
  for name in edges sharpen compare tenbit denoise motionblur timedelta faces background; do
    keeps $name "file://$PWD/hard.mkv"
  done
  keeps privacy "file://$PWD/hard.mkv" 1,2,3,4
  mv mine.mkv blurred.mp4
  cd folder # where the name by default is that of the source
  for name in blurred.mp4 "file://$here/blurred.mp4"; do
    if "$pipelines/blur.sh" "$name" >log 2>&1 || ! grep 'would be overwritten' log; then
      fail "blur.sh $name: $(cat log)"
    fi
    [[ $(<blurred.mp4) == precious ]] || fail "blur.sh $name: overwrites its source"
  done
}

# gives_up FILE: the script ends with one sentence about it, and leaves nothing.
gives_up()
{
  local log="log of ${1##*/}"
  if PATIENCE=2 OUTPUT="out of ${1##*/}.ogv" timeout 30 "$pipelines/blur.sh" "$1" >"$log" 2>&1; then
    fail "$1 is no error"
  fi
  grep "^error: no data, stream or frame came from '$PWD/${1##*/}' for 2 s; .*PATIENCE=12 waits longer" "$log" ||
    fail "$1: does not say what is wrong: $(cat "$log")"
  [[ -z $(find . -name "out of ${1##*/}*") ]] || fail "$1: leaves a file"
}

# goes_on NAME PATIENCE ELEMENT...: for longer than it would take to give up.
goes_on()
{
  local start=$SECONDS
  "$CUDACONVOLVE_BUILD/pipelines/run" --patience="$2" "${@:3}" >"log of $1" 2>&1 ||
    fail "$1 is given up: $(cat "log of $1")"
  expect "seconds of $1" $((SECONDS - start)) '>=' $(($2 + 1))
}

# slowly FILE: its header, a few bytes every half second, and then the rest.
slowly()
{
  local i
  for ((i = 0; i < 8; i++)); do
    tail -c +$((20 * i + 1)) "$1" | head -c 20
    sleep 0.5
  done
  tail -c +161 "$1"
}

# serve FILE: by HTTP, after four seconds of nothing; prints the port.
serve()
{
  python3 - "$1" <<'PYTHON'
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(4)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(open(sys.argv[1], 'rb').read())
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
server.timeout = 20
print(server.server_address[1], flush=True)
server.handle_request()
PYTHON
}

# A file that gives nothing is given up; work that is only slow is not. All at a time, as all of them wait.
test_stalled()
{
  local jobs=() job port filter=(cudaconvolve backend=cpu)
  type=ogv frames=2
  gst-launch-1.0 -q videotestsrc num-buffers=2 ! video/x-raw,width=320,height=240,framerate=2/3 ! theoraenc ! oggmux \
    ! filesink location=clip.ogv
  mkfifo without-writer silent slow
  exec 3<>silent
  gives_up without-writer & jobs+=($!)
  gives_up "file://$PWD/silent" & jobs+=($!)
  if [[ -r /proc/self/io ]]; then # which says how many bytes were read
    # Also opened for reading: the source opens it several times, and without any reader a write would fail.
    (timeout 30 bash -c "$(declare -f slowly); slowly clip.ogv 1<>slow") & jobs+=($!)
    goes_on slow 2 --input=slow --output=slow.ogv "${filter[@]}" & jobs+=($!)
  fi
  goes_on shown 1 -- filesrc location=clip.ogv ! decodebin ! "${filter[@]}" ! fakesink sync=true & jobs+=($!)
  goes_on big 1 -- filesrc location=clip.ogv ! decodebin ! identity eos-after=2 ! "${filter[@]}" n-threads=1 \
    algorithm=naive filter=box radius=30 ! fakesink & jobs+=($!)
  if have souphttpsrc; then
    mkfifo port
    serve clip.ogv >port & jobs+=($!)
    read -r port <port
    goes_on http 2 "--input=http://127.0.0.1:$port/" --output=http.ogv "${filter[@]}" & jobs+=($!)
  fi
  cut_off & jobs+=($!)
  for job in "${jobs[@]}"; do
    wait "$job" || fail "see above"
  done
}

# A clip whose index, at its end, is missing; decodebin of GStreamer 1.26 swallows the demuxer's error about that.
cut_off()
{
  local size
  have x264enc mp4mux avdec_h264 || return 0
  gst-launch-1.0 -q videotestsrc num-buffers=60 ! x264enc ! mp4mux ! filesink location=whole.mp4
  size=$(stat -c %s whole.mp4)
  head -c $((size / 2)) whole.mp4 >half.mp4
  if PATIENCE=2 OUTPUT=half-out.mp4 timeout 30 "$pipelines/blur.sh" half.mp4 >half.log 2>&1; then
    fail "half a file is no error"
  fi
  grep -E 'qtdemux0|no data, stream or frame came from .*half.mp4' half.log || fail "half a file: $(cat half.log)"
}

# filters FILE [SETTING...]: it ends well; standard error goes to `errors`.
filters()
{
  env "OUTPUT=out of $1.ogv" "${@:2}" "$pipelines/blur.sh" "$1" >log 2>errors || fail "$1: $(cat log errors)"
}

# A file that ends before its duration is filtered up to there, with a warning that says where. A whole file causes none,
# nor does the first frame of one that is cut off.
test_cut()
{
  local name size
  have x264enc mp4mux matroskamux opusenc avdec_h264 || skip "needs H.264, Opus, Matroska and MP4"
  for name in mkv mp4; do
    gst-launch-1.0 -q videotestsrc num-buffers=300 ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 \
      ! x264enc speed-preset=ultrafast key-int-max=30 ! mux. \
      audiotestsrc samplesperbuffer=1000 num-buffers=384 ! audio/x-raw,rate=48000 ! opusenc ! mux. \
      ${name/#mkv/matroska}mux name=mux $([[ $name == mkv ]] || echo faststart=true) ! filesink location=whole.$name
    filters whole.$name
    [[ ! -s errors ]] || fail "whole.$name: $(cat errors)"
    size=$(stat -c %s whole.$name)
    head -c $((size * 6 / 10)) whole.$name >cut.$name
    filters cut.$name
    grep "^warning: 'cut.$name' ends at [56]\.[0-9] s, but states a duration of \(8\|10\)\.0 s: it is truncated" errors ||
      fail "cut.$name: $(cat errors)"
    grep -q '^1[5-9][0-9] frames in ' log || fail "cut.$name: $(cat log)"
    filters cut.$name OUTPUT=first.png
    [[ ! -s errors ]] || fail "the first frame of cut.$name: $(cat errors)"
  done
}

# One rectangle of several that hides nothing is an error that names it and the frame; one that reaches into it is not. A
# type that nobody has heard of is hidden too.
test_outside()
{
  local box privacy=$pipelines/privacy.sh
  gst-launch-1.0 -q videotestsrc num-buffers=2 ! video/x-raw,width=320,height=240 ! theoraenc ! oggmux \
    ! filesink location=clip.ogv
  export OUTPUT=out.ogv
  for box in 9000,1,2,3 320,0,9,9 0,240,9,9,plate; do
    refuses "the rectangle ${box%,plate} lies outside the frame, which is 320x240, .*X must be less than 320" \
      "$privacy" clip.ogv 1,2,30,40 $box 50,60,70,80
  done
  "$privacy" clip.ogv 1,2,30,40 319,239,50,50,anything --verbose >log 2>&1 ||
    fail "a rectangle that reaches into the frame: $(cat log)"
  grep -q '^    regions  *2$' log || fail "not both rectangles are hidden: $(cat log)"
}

# settings_of TEXT: the names that stand before a =, but for the options of Meson.
settings_of()
{
  grep -oE '(^|[ (])[A-Z_]{4,}=' <<<"$1" | tr -d ' (=' | sort -u
}

# --help lists the settings that a script reads, and no others.
test_help()
{
  local script name text reads
  for script in "$pipelines"/*.sh; do
    name=${script##*/}
    [[ $name != @(common|setup|several|library).sh ]] || continue
    text=$("$script" --help)
    grep -q "^Usage: pipelines/$name" <<<"$text" || fail "$name --help does not say how it is used: $text"
    reads=$(grep -oE '\$\{[A-Z_]{4,}' "$script" | tr -d '${' | grep -v BASH_SOURCE || true)
    ! grep -q '^ *play ' "$script" || reads+=$'\nFRAMES\nPATIENCE\nOUTPUT\nFORMAT\nSTART\nDURATION\nCODEC\nQUALITY\nCAMERA'
    ! grep -q '^choose_filter' "$script" || reads+=$'\nFILTER'
    ! grep -q '^add_radius' "$script" || reads+=$'\nRADIUS'
    [[ $name != tenbit.sh ]] || reads=$(grep -vE '^(FORMAT|CODEC|QUALITY)$' <<<"$reads")
    [[ $name != @(camera|tune).sh ]] || reads+=$'\nCAMERA'
    reads=$(printf '%s\n' $reads BUILD_DIR CUDACONVOLVE_BUILD | sort -u)
    [[ $(settings_of "$text") == "$reads" ]] ||
      fail "$name --help lists these, and reads those:" "$(diff <(settings_of "$text") <(echo "$reads"))"
    grep -q '^ *play ' "$script" && [[ $text == *--verbose:* ]] || [[ $text != *--verbose* ]] || fail "$name: --verbose"
  done
  refuses "there is no option '--verbose'" "$pipelines/multi-gpu.sh" --verbose
}

# After a run there are three lines on the element, and all of its statistics if they are asked for.
test_statistics()
{
  FRAMES=2 OUTPUT=out.ogv "$pipelines/blur.sh" >log
  grep -q '^2 frames in .* frames/s$' log || fail "no frames/s: $(cat log)"
  [[ $(sed -n '/^cudaconvolve/,/^==/s/^    \([^ ]*\) .*/\1/p' log) == $'backend\ndevice\nalgorithm' ]] ||
    fail "not backend, device and algorithm: $(cat log)"
  FRAMES=2 OUTPUT=out.ogv "$pipelines/blur.sh" --verbose >log
  grep -q '^    taps  *41x41,21x21$' log || fail "--verbose does not print the taps: $(cat log)"
  grep -q '^    frames  *2$' log || fail "--verbose does not print the frames: $(cat log)"
  FRAMES=08 PATIENCE=09 OUTPUT=-out.ogv "$pipelines/blur.sh" >log
  grep -q '^8 frames in ' log || fail "08 is not 8: $(cat log)"
}

# as_other COMMAND...: without root's rights.
as_other()
{
  local drop=()
  ((EUID != 0)) || drop=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${drop[@]}" "$@" </dev/null
}

# says WORDS COMMAND...: in one line, and fails.
says()
{
  if "${@:2}" >log 2>&1; then
    fail "no error: ${*:2}"
  fi
  cat log
  grep -q -- "$1" log || fail "${*:2}: does not say: $1"
  expect "lines of: $(cat log)" "$(wc -l <log)" == 1
}

# A machine on which nothing can be installed or built.
test_unready()
{
  local tree=$PWD/tree
  says 'there is no gst/libgstcudaconvolve.so in .*/none.; build' env CUDACONVOLVE_BUILD="$PWD/none" "$pipelines/blur.sh"
  mkdir -p tree/pipelines bin own shared build/gst
  touch build/gst/libgstcudaconvolve.so
  chmod +x build/gst/libgstcudaconvolve.so
  says 'there is no pipelines/privacy in .*; build' env CUDACONVOLVE_BUILD="$PWD/build" "$pipelines/privacy.sh"
  unset CUDACONVOLVE_BUILD
  cp "$pipelines"/*.sh tree/pipelines
  printf '#!/bin/sh\nexit 1\n' | tee bin/sudo bin/apt-get >/dev/null
  chmod +x bin/*
  chmod 755 . tree tree/pipelines
  chmod 777 own
  chmod 1777 shared
  (($(stat -c %a tree) == 755 && EUID == 0)) || chmod a-w tree
  says "'$tree' cannot be written.* set BUILD_DIR to a folder of your own" as_other tree/pipelines/blur.sh
  says 'no root or sudo .*; as root: apt-get install --no-install-recommends the-package$' as_other \
    env PATH="$PWD/bin:$PATH" BUILD_DIR="$PWD/own/b" bash -c "source tree/pipelines/setup.sh
      needs='file $PWD/none the-package'; install_needs"
  check_links
}

# A link that lies where the log goes is not followed.
check_links()
{
  echo mine >victim
  ln -s ../victim own/b.log
  BUILD_DIR=own/b bash -c 'source tree/pipelines/setup.sh; step "saying so" echo said'
  [[ $(<victim) == mine && $(<own/b.log) == said && ! -L own/b.log ]] || fail "the log is written through a link"
  ln -s ../victim shared/b.log
  says 'is a link or belongs to another user; set BUILD_DIR' env BUILD_DIR=shared/b tree/pipelines/blur.sh
  rm shared/b.log
  ((EUID != 0)) || {
    mkdir -m 777 shared/b-gst-bad
    says 'is a link or belongs to another user; set BUILD_DIR' as_other env BUILD_DIR=shared/b tree/pipelines/blur.sh
  }
}

# Several files in one call: a line each, one that fails stops no other, and nothing that exists is overwritten.
test_several()
{
  local blur=$pipelines/blur.sh
  gst-launch-1.0 -q videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48 ! theoraenc ! oggmux ! filesink location=one.ogv
  gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! pngenc ! filesink location=two.png
  cp one.ogv 'three four.ogv'
  gst-launch-1.0 -q audiotestsrc num-buffers=9 ! vorbisenc ! oggmux ! filesink location=sound.ogg
  echo mine >one-blurred.mp4
  mkdir folder results
  cp one.ogv folder
  have x264enc mp4mux pngenc || skip "needs H.264 and PNG: gstreamer1.0-plugins-good, -ugly"
  if "$blur" one.ogv two.png sound.ogg 'three four.ogv' >log 2>&1; then
    fail "files that fail are no error"
  fi
  cat log
  expect "lines" "$(grep -vc '^==' log)" == 4
  grep -q "^one.ogv: failed; 'one-blurred.mp4' exists: move it, or set OUTPUT to another folder$" log || fail "one.ogv"
  grep -q '^two.png: two-blurred.png; 1 frame in ' log || fail "two.png"
  grep -q '^sound.ogg: failed; .*there is no video in sound.ogg' log || fail "sound.ogg"
  grep -q '^three four.ogv: three four-blurred.mp4; .*; 5 frames in ' log || fail "three four.ogv"
  [[ $(<one-blurred.mp4) == mine && -s 'three four-blurred.mp4' && ! -e sound-blurred.mp4 ]] || fail "the files"
  OUTPUT=results "$pipelines/privacy.sh" one.ogv 'three four.ogv' 1,2,20,20 8,8,16,16,plate >log 2>&1 || fail "privacy: $(cat log)"
  expect "results of privacy" "$(find results -name '*-private.mp4' | wc -l)" == 2
  rm -r two-blurred.png 'three four-blurred.mp4' one-blurred.mp4
  refuses "'one.ogv' and 'folder/one.ogv' would both be written to 'one-blurred.mp4'" "$blur" one.ogv folder/one.ogv
  refuses "there is no file 'none.mp4'" "$blur" one.ogv none.mp4
  refuses 'OUTPUT must be a folder for several files' OUTPUT=out.mp4 "$blur" one.ogv two.png
  refuses 'too many arguments' "$pipelines/tenbit.sh" one.ogv two.png
}

# caps_of FILE: of its video, as it is encoded.
caps_of()
{
  gst-launch-1.0 filesrc "location=$1" ! parsebin ! fakesink name=end -v 2>&1 | sed -n '/end.GstPad:sink: caps/{s/.*caps = \([^,]*\).*/\1/p;q}'
}

# Each codec whose encoder is here, in each kind of file that holds it; a better quality makes a larger file.
test_codecs()
{
  local row small big blur=$pipelines/blur.sh
  gst-launch-1.0 -q videotestsrc num-buffers=3 pattern=zone-plate kx2=20 ky2=20 kt=3 \
    ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! theoraenc quality=60 ! oggmux ! filesink location=clip.ogv
  for row in x264enc:h264:mp4:video/x-h264 x264enc:h264:mkv:video/x-h264 x265enc:h265:mp4:video/x-h265 \
    x265enc:h265:mkv:video/x-h265 av1enc:av1:mp4:video/x-av1 av1enc:av1:webm:video/x-av1 vp9enc:vp9:webm:video/x-vp9 \
    vp9enc:vp9:mkv:video/x-vp9 av1enc:av1:mkv:video/x-av1 vp8enc::webm:video/x-vp8 theoraenc::ogv:video/x-theora; do
    IFS=: read -r element codec type caps <<<"$row"
    have "$element" mp4mux matroskamux h265parse av1parse || continue
    CODEC=$codec QUALITY=5 OUTPUT=small.$type RADIUS=1 "$blur" clip.ogv >log 2>&1 || fail "$row: $(cat log)"
    CODEC=$codec QUALITY=95 OUTPUT=big.$type RADIUS=1 "$blur" clip.ogv >log 2>&1 || fail "$row: $(cat log)"
    [[ $(caps_of "big.$type") == "$caps" ]] || fail "$row: not $caps: $(caps_of "big.$type")"
    small=$(stat -c %s "small.$type") big=$(stat -c %s "big.$type")
    echo "$row: $small and $big bytes"
    expect "bytes of $row by its quality" "$big" '>' $((small * 2))
  done
  have vp9enc matroskamux || skip "needs VP9: gstreamer1.0-plugins-good"
  CODEC=vp9 "$blur" clip.ogv >log 2>&1 && [[ -s blurred.webm ]] || fail "CODEC=vp9 without OUTPUT: $(cat log)"
  rm blurred.webm
  refuses 'CODEC=h264 is not possible: .webm holds vp8 vp9 av1' CODEC=h264 OUTPUT=out.webm "$blur" clip.ogv
  refuses 'CODEC=vp9 is not possible: .mp4 holds h264 h265 av1' CODEC=vp9 OUTPUT=out.mp4 "$blur" clip.ogv
  refuses "CODEC must be h264, h265, av1 or vp9, not 'mpeg2'" CODEC=mpeg2 "$blur"
  refuses 'QUALITY must be a number from 0 to 100' QUALITY=101 "$blur"
  gst-launch-1.0 -q videotestsrc num-buffers=1 ! pngenc ! filesink location=photo.png
  refuses "'photo.png' is a picture, which has no START or DURATION" DURATION=1 "$blur" photo.png
  refuses 'QUALITY=50 is not possible: .png is lossless' QUALITY=50 OUTPUT=out.png "$blur" clip.ogv
  refuses "START must be a time in seconds" START=soon "$blur"
  refuses "DURATION must be more than 0" DURATION=0:00 "$blur"
  refuses "START needs a FILE" START=1 "$blur"
}

# within SECONDS COMMAND...: returns 0 as soon as the command succeeds, and 1 if it does not within that time.
within()
{
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

has_ended()
{
  ! kill -0 "$1" 2>/dev/null
}

# Returns 0 if a line of progress has frames, or if the script has ended. Before the first line the program may
# ignore SIGINT: a script's background jobs do until they install a handler.
has_frames_or_ended()
{
  grep -qs ' [1-9][0-9]* frames, ' log || has_ended "$1"
}

# interrupt COMMAND...: starts it, and sends SIGINT to its program when there are frames. The program must end well.
interrupt()
{
  local script program
  "$@" >log 2>&1 &
  script=$!
  within 20 has_frames_or_ended $script || fail "no frame in 20 s: $(cat log)"
  program=$(pgrep -P $script -x run) || fail "ended without SIGINT: $(cat log)"
  kill -INT "$program"
  within 20 has_ended $script || {
    kill -KILL "$program"
    fail "still running 20 s after SIGINT: $(cat log)"
  }
  wait $script || fail "SIGINT: $(cat log)"
}

# A camera, for which a live source stands in, until DURATION or SIGINT; and a device that is none.
test_camera()
{
  choose_type
  export CAMERA='videotestsrc is-live=true ! video/x-raw,format=YUY2,width=160,height=120,framerate=20/1' OUTPUT=out.$type
  DURATION=1.5 timeout 20 "$pipelines/blur.sh" /dev/null >log 2>&1 || fail "a camera: $(cat log)"
  cat log
  grep -qE '^30 frames in (1\.[3-9]|[2-9])' log || fail "not 30 frames of 1.5 s"
  [[ -s out.$type ]] || fail "no file"
  rm "out.$type" log
  interrupt "$pipelines/denoise.sh" /dev/null
  [[ -s out.$type ]] || fail "SIGINT does not complete the file: $(cat log)"
  rm "out.$type"
  if command -v xvfb-run >/dev/null && /usr/bin/python3 -c 'import gi; gi.require_version("Gtk", "3.0")' 2>/dev/null; then
    timeout 15 xvfb-run -a timeout 5 "$pipelines/tune.sh" /dev/null >log 2>&1 || true # it is ended
    grep '^picture after' log || grep '^skipped' log || fail "tune.sh shows nothing of a camera: $(cat log)"
  fi
  unset CAMERA
  have v4l2src || skip "needs v4l2src: gstreamer1.0-plugins-good"
  refuses "error from v4l2src0: .*/dev/null" "$pipelines/blur.sh" /dev/null
}

"test_${1:?usage: scripts.sh TEST, one of those that the head of this script lists}"
