#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs a script of pipelines/ on a short clip, without a display and in a folder of its own, and checks the pixels of
# its output. Uses the build in CUDACONVOLVE_BUILD, and neither installs nor builds anything.
#
# Usage: tests/element/examples.sh embed|embed_py|blur|edges|sharpen|compare|tenbit|privacy|denoise|motionblur|timedelta|multi_gpu|
#        gallery|sound|files|refused|ended|demo|faces|background
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/examples.sh"

width=320 height=240 frames=30

# make_clip [SETTING...]: makes the clip: flat bars with sharp edges, and noise in a corner; or videotestsrc with these
# settings.
make_clip()
{
  local sink=(x264enc speed-preset=veryfast ! mp4mux) picture=("$@")
  [[ $type == mp4 ]] || sink=(theoraenc ! oggmux)
  (($#)) || picture=(horizontal-speed=2)
  gst-launch-1.0 -q videotestsrc num-buffers=$frames "${picture[@]}" \
    ! "video/x-raw,format=I420,width=$width,height=$height,framerate=30/1" ! "${sink[@]}" \
    ! filesink "location=clip.$type"
}

# measure FILE WIDTH HEIGHT: decodes the file to grey.raw. Prints the number of frames and, of the middle frame, the
# darkest and the lightest sample, and the detail of its left and its right half: the mean difference of neighbours,
# times 100.
measure()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin ! videoconvert \
    ! "video/x-raw,format=GRAY8,width=$2,height=$3" ! filesink location=grey.raw
  python3 - "$2" "$3" <<'PYTHON'
import sys
width, height = map(int, sys.argv[1:])
data = open('grey.raw', 'rb').read()
frames, rest = divmod(len(data), width * height)
assert frames and not rest, f'{len(data)} bytes are not frames of {width}x{height}'
picture = data[frames // 2 * width * height:][:width * height]

def detail(begin, end):
    rows = [picture[y * width + begin:y * width + end] for y in range(height)]
    return sum(abs(a - b) for row in rows for a, b in zip(row, row[1:])) * 100 // (height * (end - begin - 1))

print(frames, min(picture), max(picture), detail(0, width // 2), detail(width // 2, width))
PYTHON
}

# run_script SCRIPT [ARGUMENT...]: runs it on the clip, with its output in log.
run_script()
{
  "$pipelines/$1.sh" "clip.$type" "${@:2}" >log 2>&1 || {
    cat log
    fail "$1.sh exits with an error"
  }
  cat log
  grep -q "^$frames frames in" log || fail "$1.sh does not say that it filtered $frames frames"
  grep -q '^ *backend  *cpu$' log || fail "$1.sh does not say what ran where"
  ! grep '^warning from cudaconvolve' log || fail "$1.sh sets what has no effect"
}

# run_filters SCRIPT FILTER...: runs it with filters that lack some settings of its own filter.
run_filters()
{
  local filter
  for filter in "${@:2}"; do
    FILTER=$filter run_script "$1"
  done
}

# filtered SCRIPT [WIDTH HEIGHT]: runs a script that writes video of the clip's type. Sets `before` and `after` to what
# `measure` prints of the clip and of the output.
filtered()
{
  choose_type
  [[ -e clip.$type ]] || make_clip
  export OUTPUT=out.$type
  run_script "$1"
  ! compgen -G '*.part' || fail "the part of $OUTPUT is left"
  read -ra before <<<"$(measure "clip.$type" $width $height)"
  read -ra after <<<"$(measure "$OUTPUT" "${2:-$width}" "${3:-$height}")"
  echo "before: ${before[*]}; after: ${after[*]}"
  expect frames "${after[0]}" == $frames
}

test_blur()
{
  filtered blur
  expect "detail left by a blur, right" "${after[4]}" '<' $((before[4] / 2))
  expect "contrast of large areas" $((after[2] - after[1])) '>' 150
  run_filters blur identity sharpen sobel emboss
}

test_sharpen()
{
  filtered sharpen
  expect "detail made by sharpening, right" "${after[4]}" '>' "${before[4]}"
  expect "detail made by sharpening, left" "${after[3]}" '>' "${before[3]}"
  run_filters sharpen gaussian sharpen emboss scharr
}

# Bars are flat, so nearly all is mid-grey, with edges of both signs.
test_edges()
{
  filtered edges
  expect "darkest" "${after[1]}" '<' 60
  expect "lightest" "${after[2]}" '>' 196
  expect "samples at mid-grey, in a hundred" "$(mid_grey)" '>' 60
}

mid_grey()
{
  python3 -c "data = open('grey.raw', 'rb').read(); print(sum(120 < v < 136 for v in data) * 100 // len(data))"
}

# The clip is 4:3 and each half 16:9, so both halves have black bars at their sides.
test_compare()
{
  filtered compare 1920 540
  expect "detail on the left, of the original" "${after[3]}" '>' $((after[4] * 3 / 2))
  expect "detail on the right" "${after[4]}" '>' 0
}

# FFV1 is lossless. Only a filter that keeps 10 bits gives more levels than the clip's 8 bits have.
test_tenbit()
{
  have avenc_ffv1 matroskamux || skip "needs FFV1 and Matroska: gstreamer1.0-libav, gstreamer1.0-plugins-good"
  choose_type
  make_clip
  expect "levels without a filter" "$(tenbit_levels 0)" '<=' 256
  expect "levels of a blur at 10 bits" "$(tenbit_levels 8)" '>' 400
  gst-launch-1.0 filesrc location=tenbit.mkv ! matroskademux ! avdec_ffv1 ! video/x-raw,format=I420_10LE ! fakesink
}

tenbit_levels()
{
  RADIUS=$1 run_script tenbit >&2
  sed -n 's/.*levels in its samples: \([0-9]*\);.*/\1/p' log
}

# First with rectangles for a file; then without a file, on drawn faces, whose regions move.
test_privacy()
{
  local boxes=(80,60,100,90 230,20,60,40,plate) before after outside
  choose_type
  make_clip
  OUTPUT=out.$type run_script privacy "${boxes[@]}"
  read -r before after outside <<<"$(inside_and_outside "out.$type" "${boxes[@]}")"
  echo "in the boxes: before $before, after $after; outside: $outside"
  expect "detail in the boxes" "$after" '<' $((before / 4))
  expect "change outside, in hundredths, which coding alone makes" "$outside" '<' 300
  if "$pipelines/privacy.sh" "clip.$type" 80,60,0,90; then
    fail "a rectangle of no width is no error"
  fi
  test_drawn_faces
  test_town_plates
}

# A number plate in the drawn town, at this place after 20 frames, is hidden, too.
test_town_plates()
{
  local width=1280 height=720 plate=486,640,62,18 before after outside
  FRAMES=40 TYPES=none OUTPUT=clip.$type "$pipelines/privacy.sh" >log 2>&1 || fail "privacy.sh without a file: $(cat log)"
  FRAMES=40 OUTPUT=out.$type "$pipelines/privacy.sh" >log 2>&1 || fail "privacy.sh without a file: $(cat log)"
  read -r before after outside <<<"$(inside_and_outside "out.$type" $plate)"
  echo "on the car's plate: before $before, after $after"
  expect "detail of the car's plate" "$before" '>' 100000
  expect "detail left of the car's plate" "$after" '<' $((before / 50))
}

# inside_and_outside FILE BOX...: compares the middle frames of the clip and of a file. Prints the detail in the boxes
# before and after, and the mean change outside, beyond half a box around each box; all times 100. Detail is the mean of
# squared differences of neighbours, so that an edge counts less if it is spread over many samples.
inside_and_outside()
{
  measure "clip.$type" $width $height >/dev/null
  mv grey.raw clip.raw
  measure "$1" $width $height >/dev/null
  python3 - $width $height "${@:2}" <<'PYTHON'
import sys
width, height = map(int, sys.argv[1:3])
boxes = [list(map(int, box.split(',')[:4])) for box in sys.argv[3:]]

def middle(name):
    data = open(name, 'rb').read()
    return data[len(data) // (width * height) // 2 * width * height:][:width * height]

def near(x, y, margin):
    return any(-margin * w <= x - left < (1 + margin) * w and -margin * h <= y - top < (1 + margin) * h
               for left, top, w, h in boxes)

def detail(picture):
    return sum((picture[i] - picture[i + 1]) ** 2 for i in inside) * 100 // len(inside)

before, after = middle('clip.raw'), middle('grey.raw')
inside = [y * width + x for y in range(height) for x in range(width - 1) if near(x, y, 0) and near(x + 1, y, 0)]
outside = [y * width + x for y in range(height) for x in range(width) if not near(x, y, 0.5)]
print(detail(before), detail(after), sum(abs(before[i] - after[i]) for i in outside) * 100 // len(outside))
PYTHON
}

# With raw frames, so that everything that is not hidden must keep every bit.
test_drawn_faces()
{
  local part moved before after
  play_faces plain.raw roi-types=none
  play_faces hidden.raw roi-types=face,plate roi-strength=relative
  read -r part moved before after <<<"$(changed_part)"
  echo "drawn: $part % changed, moved by $moved; detail there before $before, after $after"
  expect "changed part, in a hundred" "$part" '>' 3
  expect "changed part, in a hundred" "$part" '<' 40
  expect "columns that the change has moved by" "$moved" '>' 10
  expect "detail left of the faces" "$after" '<' $((before / 4))
}

# play_faces FILE SETTING...: filters the drawn faces, and writes raw frames.
play_faces()
{
  "$CUDACONVOLVE_BUILD/pipelines/privacy" -- videotestsrc num-buffers=$frames pattern=smpte75 \
    ! "video/x-raw,format=NV12,width=$width,height=$height,framerate=30/1" \
    ! cudaconvolve backend=cpu roi-source=meta "${@:2}" ! filesink "location=$1" >log 2>&1 || {
    cat log
    fail "privacy exits with an error"
  }
}

# Compares the luma of plain.raw and hidden.raw. Prints the percentage that differs, the columns by which the middle of
# that part moves from the first frame to the last, and the detail in it before and after.
changed_part()
{
  python3 - $width $height $frames <<'PYTHON'
import sys
width, height, frames = map(int, sys.argv[1:])
plain, hidden = open('plain.raw', 'rb').read(), open('hidden.raw', 'rb').read()
size = width * height * 3 // 2
assert len(plain) == len(hidden) == frames * size, f'{len(plain)} and {len(hidden)} bytes, not {frames} frames'
changed = [[i for i in range(f * size, f * size + width * height) if plain[i] != hidden[i]] for f in range(frames)]
places = [i for frame in changed for i in frame]
middle = [sum((i - f * size) % width for i in changed[f]) // len(changed[f]) for f in (0, frames - 1)]
detail = [sum((data[i] - data[i + 1]) ** 2 for i in places) * 100 // len(places) for data in (plain, hidden)]
print(len(places) * 100 // (frames * width * height), abs(middle[1] - middle[0]), *detail)
PYTHON
}

# A still picture becomes mid-grey, apart from coding errors. Moving bars give differences of both signs.
test_timedelta()
{
  choose_type
  make_clip pattern=smpte75
  filtered timedelta
  expect "darkest of a picture that stands still" "${after[1]}" '>' 112
  expect "lightest of a picture that stands still" "${after[2]}" '<' 144
  rm "clip.$type"
  filtered timedelta
  expect "darkest of bars that move" "${after[1]}" '<' 60
  expect "lightest of bars that move" "${after[2]}" '>' 196
  expect "samples at mid-grey, in a hundred" "$(mid_grey)" '>' 60
}

# The trail is only behind the ball. A blur within the picture would also light samples ahead of it.
test_motionblur()
{
  local behind elsewhere
  choose_type
  make_clip pattern=ball
  filtered motionblur
  mv grey.raw after.raw
  measure "clip.$type" $width $height >/dev/null
  read -r behind elsewhere <<<"$(trail)"
  echo "samples in the trail: $behind; lit elsewhere: $elsewhere"
  expect "samples in the trail" "$behind" '>' 300
  expect "samples that are lit elsewhere" "$elsewhere" '<' 20
}

# Counts samples that are lit in the middle frame of after.raw but not in that of grey.raw. Prints how many of them the
# ball covered in one of the ten frames before, and how many it did not.
trail()
{
  python3 - $((width * height)) $((frames / 2)) <<'PYTHON'
import sys
size, middle = map(int, sys.argv[1:])
before, after = open('grey.raw', 'rb').read(), open('after.raw', 'rb').read()
lit = [i for i in range(size) if after[middle * size + i] > 60 and before[middle * size + i] < 30]
behind = sum(any(before[f * size + i] > 30 for f in range(middle - 10, middle)) for i in lit)
print(behind, len(lit) - behind)
PYTHON
}

# First a clip of bars with noise; then, without a file, the PSNR that the script reports.
test_denoise()
{
  choose_type
  make_noisy_clip
  filtered denoise
  expect "detail left of the noise" "${after[3]}" '<' $((before[3] * 3 / 5)) # coding alone leaves 3 / 4
  expect "contrast of large areas" $((after[2] - after[1])) '>' 120
  FRAMES=$frames "$pipelines/denoise.sh" >log 2>&1 || fail "denoise.sh without a file: $(cat log)"
  local number='\([0-9]*\)\.[0-9]'
  read -ra psnr <<<"$(sed -n "s/^== PSNR in dB: before $number, of the mean $number, after $number\$/\1 \2 \3/p" log)"
  echo "PSNR in dB: ${psnr[*]}"
  expect "PSNR of noise, in dB" "${psnr[0]}" '<' 40
  expect "PSNR without noise, in dB" "${psnr[2]}" '>=' $((psnr[0] + 4))
  expect "PSNR above that of the mean, in dB" "${psnr[2]}" '>=' $((psnr[1] + 2))
}

make_noisy_clip()
{
  local caps="video/x-raw,format=I420,width=$width,height=$height,framerate=30/1"
  local sink=(x264enc speed-preset=veryfast bitrate=20000 ! mp4mux)
  [[ $type == mp4 ]] || sink=(theoraenc quality=63 ! oggmux)
  gst-launch-1.0 -q videotestsrc num-buffers=$frames pattern=smpte75 ! "$caps" ! mix.sink_0 \
    videotestsrc num-buffers=$frames pattern=snow ! "$caps" ! mix.sink_1 \
    compositor name=mix sink_1::alpha=0.1 ! "$caps" ! "${sink[@]}" ! filesink "location=clip.$type"
}

# Every filter has a picture, all pictures differ, and some show the expected effect.
test_gallery()
{
  local nick identity values
  have pngenc pngdec || skip "needs PNG: gstreamer1.0-plugins-good"
  choose_python
  run_logged "$python" "$pipelines/gallery.py" --folder . --backend cpu
  ((status == 0)) || fail "exit status $status"
  gst-inspect-1.0 cudaconvolve >inspected
  for nick in $(sed -n '/GstCudaConvolveFilter/,/^  gradient/s/^ *([0-9]*): \([^ ]*\) .*/\1/p' inspected); do
    [[ -s $nick.png ]] || fail "there is no picture of filter=$nick"
  done
  [[ -n ${nick:-} ]] || fail "gst-inspect-1.0 lists no filters"
  [[ -z $(md5sum -- *.png | sort | uniq -w32 -d) ]] || fail "two pictures are the same: $(md5sum -- *.png | sort)"
  identity=$(detail_of identity)
  expect "detail of gaussian" "$(detail_of gaussian)" '<' $((identity / 2))
  expect "detail of unsharp" "$(detail_of unsharp)" '>' $((identity * 3 / 2))
  expect "detail of privacy-after" "$(detail_of privacy-after)" '<' "$(detail_of privacy-before)"
  measure laplacian.png 200 150
  expect "mid-grey in laplacian, in a hundred" "$(mid_grey)" '>' 60
  check_gallery_time
  check_gallery_of_photo
}

# Given a photo, the pictures show it, at the gallery's width.
check_gallery_of_photo()
{
  local filtered
  gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,width=400,height=220 \
    ! jpegenc ! filesink location=photo.jpg
  run_logged "$python" "$pipelines/gallery.py" --folder photo --backend cpu photo.jpg 20,20,60,40
  ((status == 0)) || fail "exit status $status"
  read -ra filtered <<<"$(measure photo/gaussian.png 200 110)"
  read -ra values <<<"$(measure photo/identity.png 200 110)"
  expect "detail of the photo" $((values[3] + values[4])) '>' 1000
  expect "detail of the photo, blurred" $((filtered[3] + filtered[4])) '<' $(((values[3] + values[4]) / 2))
  cmp -s photo/privacy-before.png photo/privacy-after.png && fail "nothing of the photo is hidden"
  cp photo/identity.png kept.png
  run_logged "$python" "$pipelines/gallery.py" --folder photo --backend cpu photo/identity.png
  ((status == 1)) || fail "a picture in the folder of the gallery is no error"
  cmp photo/identity.png kept.png
}

# A single ball covers some 900 samples, none of them from column 170 on.
check_gallery_time()
{
  local values behind ahead noise left
  # The gaussian over 15 frames leaves a third of the noise, and all of the picture's own detail.
  noise=$(($(detail_of time-noisy) - identity))
  left=$(($(detail_of time-denoised) - identity))
  echo "detail of noise: $noise; left of it in time-denoised: $left"
  expect "left of the noise in time-denoised" "$left" '<' $((noise * 2 / 5))
  expect "left of the noise in time-denoised" "$left" '>' 0
  check_gallery_ball
  measure time-trail.png 200 150
  read -r behind ahead <<<"$(lit_samples 170)"
  echo "samples lit in time-trail: $behind; ahead of the ball: $ahead"
  expect "samples lit in time-trail" "$behind" '>' 2000
  expect "samples lit ahead of the ball" "$ahead" '==' 0
  read -ra values <<<"$(measure time-delta.png 200 150)"
  expect "darkest of time-delta" "${values[1]}" '<' 60
  expect "lightest of time-delta" "${values[2]}" '>' 196
  expect "mid-grey in time-delta, in a hundred" "$(mid_grey)" '>' 80
}

# The plain mean smears the ball and leaves a trail where it was; time-denoised does neither.
check_gallery_ball()
{
  local name ball trail
  measure identity.png 200 150 >/dev/null
  mv grey.raw still.raw
  for name in time-mean time-denoised; do
    measure $name.png 200 150 >/dev/null
    read -r ball trail <<<"$(lighter_than_still)"
    echo "$name: the ball is $ball levels lighter than what is behind it, its trail $trail"
    if [[ $name == time-mean ]]; then
      expect "light of the trail in $name" "$trail" '>' 20
      expect "light of the ball in $name" "$ball" '<' 85
    else
      expect "light of the trail in $name" "$trail" '<' 5
      expect "light of the ball in $name" "$ball" '>' 100
    fi
  done
}

# Prints how much lighter grey.raw is than still.raw on average: in the middle of the ball, and left of the ball where it
# was two frames before.
lighter_than_still()
{
  python3 - <<'PYTHON'
width, height = 200, 150
after, before = (open(name, 'rb').read() for name in ('grey.raw', 'still.raw'))
def mean(holds):
    places = [y * width + x for y in range(height) for x in range(width) if holds(x, y)]
    return round(sum(after[i] - before[i] for i in places) / len(places))
print(mean(lambda x, y: (x - 62) ** 2 + (y - 40) ** 2 < 12 ** 2),
      mean(lambda x, y: (x - 50) ** 2 + (y - 41) ** 2 < 15 ** 2 and (x - 62) ** 2 + (y - 40) ** 2 > 19 ** 2))
PYTHON
}

# lit_samples COLUMN: prints how many samples of grey.raw are lighter than the first sample of their row, the sky:
# before that column, and from it on.
lit_samples()
{
  python3 - "$1" <<'PYTHON'
import sys
column, width = int(sys.argv[1]), 200
data = open('grey.raw', 'rb').read()
lit = [i % width for i, value in enumerate(data) if value > data[i - i % width] + 2]
print(sum(x < column for x in lit), sum(x >= column for x in lit))
PYTHON
}

detail_of()
{
  local values
  read -ra values <<<"$(measure "$1.png" 200 150)"
  echo $((values[3] + values[4]))
}

# run_logged COMMAND...: runs it with its output in log. Sets `status` to the exit status; 77 skips the test.
run_logged()
{
  status=0
  "$@" >log 2>&1 || status=$?
  cat log
  [[ $status != 77 ]] || exit 77
}

# GStreamer's Python modules belong to the system's Python. Another one may come before it in PATH.
choose_python()
{
  python=python3
  "$python" -c 'import gi' 2>/dev/null || [[ ! -x /usr/bin/python3 ]] || python=/usr/bin/python3
}

# check_embed COMMAND...: the program plays a generated picture in real time, so that its changes take effect while
# playing. A file that does not exist is an error.
check_embed()
{
  run_logged "$@"
  ((status == 0)) || fail "exit status $status"
  grep -q '^ *frames: 90$' log || fail "the statistics do not say that there were 90 frames"
  grep -q 'gaussian with a growing sigma' log || fail "the filter did not change while playing"
  ! grep '^warning from ' log || fail "it sets what has no effect"
  # A sigma near 8 has 49 taps. Without animation there would be 7.
  grep -q '^ *taps: "*4[79]x4[79]"*$' log || fail "sigma was not animated"
  if "$@" /nonexistent.mp4; then
    fail "a file that is not there is no error"
  fi
}

test_embed()
{
  check_embed "$CUDACONVOLVE_BUILD/pipelines/embed"
}

test_embed_py()
{
  choose_python
  check_embed "$python" "$pipelines/embed.py"
}

# Each stream reports its rate, here in tenths of a frame/s. Together they add up to the total.
test_multi_gpu()
{
  local streams sum
  export WIDTH=$width HEIGHT=$height DURATION=0.3
  STREAMS=3 RADIUS=2 run_logged "$pipelines/multi-gpu.sh"
  ((status == 0)) || fail "exit status $status"
  streams=$(sed -n 's/^  stream [0-2], CPU.*: \([0-9]*\)\.\([0-9]\) frames\/s$/\1\2/p' log)
  sum=$(sed -n 's/^GPUs 0, streams 3: together \([0-9]*\)\.\([0-9]\) frames\/s$/\1\2/p' log)
  expect "streams" "$(wc -w <<<"$streams")" == 3
  expect "the slowest stream" "$(sort -n <<<"$streams" | head -n 1)" '>' 0
  sum=$((${sum:-0} - ($(paste -sd+ <<<"$streams"))))
  expect "the sum less its parts" "${sum#-}" '<=' 2 # each was rounded
  if STREAMS=-1 "$pipelines/multi-gpu.sh" || FILTER=custom "$pipelines/multi-gpu.sh"; then
    fail "a wrong number of streams, or streams that cannot run, are no error"
  fi
}

# Makes the clip with a tone.
make_clip_with_sound()
{
  local video=(x264enc speed-preset=veryfast) sound=(avenc_aac) mux=mp4mux
  [[ $type == mp4 ]] || video=(theoraenc) sound=(vorbisenc) mux=oggmux
  gst-launch-1.0 -q videotestsrc num-buffers=$frames horizontal-speed=2 \
    ! "video/x-raw,format=I420,width=$width,height=$height,framerate=30/1" ! "${video[@]}" ! queue ! mux. \
    audiotestsrc num-buffers=40 ! audio/x-raw,rate=44100,channels=2 ! audioconvert ! "${sound[@]}" ! queue ! mux. \
    $mux name=mux ! filesink "location=clip.$type"
}

# sound_and_frames FILE: prints the number of bytes of decoded sound, and of frames. Links both streams, because
# decodebin may wait for a stream that is not linked.
sound_and_frames()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin name=decoded decoded. ! queue ! audio/x-raw ! filesink location=sound.raw \
    decoded. ! queue ! videoconvert ! "video/x-raw,format=GRAY8,width=$width,height=$height" ! filesink location=grey.raw
  echo "$(stat -c %s sound.raw) $(($(stat -c %s grey.raw) / (width * height)))"
}

# Sound is copied if the container can hold it, else encoded again.
test_sound()
{
  local output after
  choose_type
  [[ $type == ogv ]] || have avenc_aac || skip "needs AAC: gstreamer1.0-libav"
  make_clip_with_sound
  OUTPUT=out.$type run_script blur
  grep -q '^sound: copied$' log || fail "the sound is encoded again"
  [[ $(sound_and_frames "out.$type") == $(sound_and_frames "clip.$type") ]] || fail "not the sound and the frames of the clip"
  for output in out.mkv out.webm; do
    have matroskamux vp8enc opusenc x264enc || continue
    OUTPUT=$output run_script blur
    read -ra after <<<"$(sound_and_frames $output)"
    expect "bytes of sound in $output" "${after[0]}" '>' 100000
    expect "frames in $output" "${after[1]}" == $frames
  done
}

# decoded_caps FILE: prints the caps of its decoded video.
decoded_caps()
{
  gst-launch-1.0 -v filesrc "location=$1" ! decodebin ! video/x-raw ! fakesink name=end |
    sed -n '/end.GstPad:sink: caps/{s/.*caps = //;s/([a-z]*)//g;p;q}'
}

# By default the output is 8 bit 4:2:0, which plays everywhere. A picture gives a picture.
test_files()
{
  have x264enc mp4mux avdec_h264 pngenc jpegenc avenc_ffv1 || skip "needs H.264, FFV1 and PNG: gstreamer1.0-plugins-good, -ugly, -libav"
  gst-launch-1.0 -q videotestsrc num-buffers=$frames ! video/x-raw,format=Y444_10LE,width=321,height=241,framerate=30/1 \
    ! avenc_ffv1 ! matroskamux ! filesink location=clip.mp4
  OUTPUT=out.mp4 run_script blur
  [[ $(decoded_caps out.mp4) == *format=I420,*width=320,*height=240,* ]] || fail "not I420 of 320x240: $(decoded_caps out.mp4)"
  grep -q '^Y444_10LE of 10 bit is written as 8 bit 4:2:0' log || fail "the other format is not told"
  FORMAT=Y444_10LE OUTPUT=out.mkv run_script blur
  [[ $(decoded_caps out.mkv) == *format=Y444_10LE,*width=321,*height=241,* ]] || fail "not what was asked for: $(decoded_caps out.mkv)"
  gst-launch-1.0 -q videotestsrc num-buffers=$frames ! video/x-raw,format=v210,width=320,height=240,framerate=30/1 \
    ! qtmux ! filesink location=clip.mp4
  OUTPUT=out.mp4 run_script blur
  grep -q '^v210, which the filter does not support, is converted to I422_10LE$' log || fail "the conversion is not told"
  make_clip
  turn clip.mp4
  OUTPUT=out.mp4 run_script blur
  [[ $(decoded_caps out.mp4) == *width=240,*height=320,* ]] || fail "not turned: $(decoded_caps out.mp4)"
  gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,width=321,height=241 ! jpegenc ! filesink location=photo.jpg
  gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,width=321,height=241 ! pngenc ! filesink location=photo.png
  "$pipelines/blur.sh" photo.jpg >log 2>&1 || fail "of a picture: $(cat log)"
  OUTPUT=other.png "$pipelines/blur.sh" photo.png >log 2>&1 || fail "of a picture: $(cat log)"
  [[ $(decoded_caps blurred.jpg) == *width=321,*height=241,* ]] || fail "blurred.jpg is not the picture"
  [[ $(decoded_caps other.png) == *width=321,*height=241,* ]] || fail "other.png is not the picture"
  turn_photo photo.jpg
  FILTER=identity OUTPUT=turned.png "$pipelines/blur.sh" photo.jpg >log 2>&1 || fail "of a turned picture: $(cat log)"
  gst-launch-1.0 -q filesrc location=photo.jpg ! jpegdec ! videoconvert ! videoflip video-direction=90r ! videoconvert ! pngenc \
    ! filesink location=wanted.png
  expect "samples of a turned photo that differ by more than 4" "$(far_samples turned.png wanted.png)" == 0
}

# turn_photo FILE: marks a .jpg as to be rotated clockwise by viewers, as cameras do.
turn_photo()
{
  python3 - "$1" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], 'rb').read()
exif = b'Exif\0\0' + b'MM' + struct.pack('>HIHHHIHHI', 42, 8, 1, 0x112, 3, 1, 6, 0, 0)
open(sys.argv[1], 'wb').write(data[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + data[2:])
PYTHON
}

# far_samples PICTURE PICTURE: prints how many grey samples differ by more than 4; all of them if the sizes differ.
far_samples()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=one.raw
  gst-launch-1.0 -q filesrc "location=$2" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=other.raw
  python3 -c "one, other = open('one.raw', 'rb').read(), open('other.raw', 'rb').read()
print(sum(abs(a - b) > 4 for a, b in zip(one, other)) if len(one) == len(other) else len(one) + len(other))"
}

# turn FILE: marks an .mp4 as to be rotated by players, as telephones do.
turn()
{
  python3 - "$1" <<'PYTHON'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
matrix = data.find(b'tkhd') + 44
data[matrix:matrix + 36] = struct.pack('>9i', 0, 65536, 0, -65536, 0, 0, 240 * 65536, 0, 1 << 30)
open(sys.argv[1], 'wb').write(data)
PYTHON
}

test_refused()
{
  local blur=$pipelines/blur.sh
  choose_type
  make_clip
  gst-launch-1.0 -q audiotestsrc num-buffers=40 ! vorbisenc ! oggmux ! filesink location=sound.ogg
  export OUTPUT=out.$type
  refuses 'there is no video in sound.ogg' "$blur" sound.ogg
  refuses 'radius must be -1 to 512 (default -1)' RADIUS=600 "$blur" "clip.$type"
  refuses 'filter must be one of identity .* custom (default gaussian)' FILTER=blurry "$blur" "clip.$type"
  refuses 'kernel-t must be a list, like <1,2,1>' KERNEL='<1' "$pipelines/timedelta.sh" "clip.$type"
  refuses 'radius must be -1 to 512 (default -1)' RADIUS=600 "$pipelines/multi-gpu.sh"
  refuses 'OUTPUT must end in .mp4 .mkv .webm' OUTPUT=out.avi "$blur" "clip.$type"
  refuses 'FRAMES must be' FRAMES=-1 "$blur"
  refuses 'PATIENCE must be a number from 0' PATIENCE=soon "$blur"
  refuses 'is a folder' "$blur" .
  refuses 'does not accept it' FORMAT=NV61 "$blur" "clip.$type"
  refuses 'there is no folder' OUTPUT="missing/out.$type" "$blur" "clip.$type"
  mkdir "folder.$type"
  refuses 'is a folder' OUTPUT="folder.$type" "$blur" "clip.$type"
  refuses "there is no option '--blurry'" "$blur" --blurry
  gst-launch-1.0 -q videotestsrc num-buffers=2 ! theoraenc ! oggmux ! filesink location=theora.ogv
  refuses 'have more decoders' GST_PLUGIN_FEATURE_RANK=theoradec:NONE,avdec_theora:NONE "$blur" theora.ogv
  refuses 'there is no display for a window' "$pipelines/tune.sh" "clip.$type"
  touch photo.png
  refuses "is a picture" "$blur" photo.png
}

# If the script is ended while it writes a file, it leaves nothing of the file.
test_ended()
{
  local script part
  choose_type
  FRAMES=100000 OUTPUT=out.$type "$pipelines/blur.sh" >log 2>&1 &
  script=$!
  await_part
  kill -TERM $script
  wait $script && fail "no error"
  await ! -e "$part"
  [[ ! -e out.$type ]] || fail "out.$type is left"
}

# Waits until the output is being written. Sets `part` to the folder of the incomplete file.
await_part()
{
  local i
  for ((i = 0; i < 200; i++)); do
    part=$(compgen -G '*.part') && [[ -s $part/out.$type ]] && return
    sleep 0.1
  done
  fail "out.$type is not being written"
}

# await CONDITION...: waits up to 20 s until [ CONDITION ] holds.
await()
{
  local i
  for ((i = 0; i < 200; i++)); do
    [ "$@" ] && return
    sleep 0.1
  done
  fail "waited for: $*"
}

# The line moves from 1 / 10 of the width to 9 / 10 in frame 90. The picture to the left of it is sharp.
test_demo()
{
  local first last
  choose_type
  FRAMES=1 OUTPUT=one.$type "$pipelines/blur.sh" >log 2>&1 || fail "blur.sh without a file: $(cat log)"
  FRAMES=91 OUTPUT=out.$type "$pipelines/blur.sh" >log 2>&1 || fail "blur.sh without a file: $(cat log)"
  read -ra first <<<"$(measure "one.$type" 1280 720)"
  gst-launch-1.0 -q filesrc "location=out.$type" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 \
    ! filesink location=grey.raw
  read -ra last <<<"$(python3 - <<'PYTHON'
data = open('grey.raw', 'rb').read()[-1280 * 720:]
rows = [data[y * 1280:][:1280] for y in range(720)]
print(*(sum(abs(a - b) for row in rows for a, b in zip(row[left:left + 500], row[left + 1:left + 501])) * 100 // (720 * 500)
        for left in (0, 640)))
PYTHON
  )"
  echo "detail, left and right: first ${first[*]:3}, last ${last[*]}"
  expect "detail on the right at first" $((first[4] * 4)) '<' "${last[1]}"
  expect "detail on the left at last" "${last[0]}" '>' 300
}

need_portrait()
{
  photo=$CUDACONVOLVE_BUILD/portrait.png
  have facedetect pngdec || skip "needs facedetect and PNG: gstreamer1.0-opencv, opencv-data, gstreamer1.0-plugins-good"
  [[ -e $photo ]] || skip "needs a portrait, which tests/run.sh fetches"
}

# First the script on the moving portrait; then its pipeline on one frame of the portrait, without loss.
test_faces()
{
  local by_hand before after own changed
  need_portrait
  choose_type
  FRAMES=$frames OUTPUT=out.$type run_logged "$pipelines/faces.sh" --verbose
  ((status == 0)) || fail "exit status $status"
  check_report 'the faces'
  expect "frames with a face" "$(sed -n 's/^faces were found in \([0-9]*\) of .*/\1/p' log)" '>=' $((frames * 9 / 10))
  by_hand=$(sed -n 's/.* ! \(videoconvert ! facedetect .*\) ! videoconvert ! autovideosink$/\1/p' log)
  gst-launch-1.0 -m filesrc "location=$photo" ! pngdec ! imagefreeze num-buffers=1 ! ${by_hand% ! cudaconvolve *} \
    ! tee name=t t. ! queue ! filesink location=plain.raw t. ! queue ! cudaconvolve ${by_hand##* ! cudaconvolve } \
    ! filesink location=hidden.raw >log
  read -r before after own changed <<<"$(one_face)"
  echo "detail in the face: $before before, $after after, of its own $own in a thousand; samples changed elsewhere: $changed"
  expect "detail of the face's own, in a thousand" "$own" '<' 100
  expect "samples changed elsewhere" "$changed" == 0
  test_dead_detector ${by_hand##* ! cudaconvolve }
}

# test_dead_detector SETTING...: with the settings of faces.sh. If the detector fails, the face is visible after
# roi-smooth is over, as the head of the script says. With MISSING=filter or the preset privacy, no frame shows it.
test_dead_detector()
{
  local shown
  [[ " $* " == *' roi-smooth=10 roi-missing=copy '* ]] || fail "faces.sh does not set what its head states: $*"
  shown=$(frames_with_the_face "$@")
  expect "frames that show the face, MISSING=copy" "$shown" == 4
  FRAMES=1 MISSING=filter OUTPUT=out.$type run_logged "$pipelines/faces.sh"
  ((status == 0)) || fail "exit status $status"
  shown=$(frames_with_the_face $(sed -n 's/.* ! cudaconvolve \(.*\) ! videoconvert ! autovideosink$/\1/p' log))
  expect "frames that show the face, MISSING=filter" "$shown" == 0
  shown=$(frames_with_the_face @preset=privacy roi-source=meta)
  expect "frames that show the face, preset privacy" "$shown" == 0
}

# frames_with_the_face SETTING...: prints how many frames show the face. facedetect finds it in the first 3; in the 14
# after them it lacks its profile, and so finds nothing. Needs plain.raw, a frame of the portrait.
frames_with_the_face()
{
  local cascade=/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml frame own shown=0 frames=0
  local still="filesrc location=$photo ! pngdec ! imagefreeze num-buffers"
  rm -f frame.*
  gst-launch-1.0 -q concat name=one ! cudaconvolve backend=cpu "$@" ! filesink location=hidden.raw \
    $still=3 ! videoconvert ! facedetect display=false profile=$cascade min-size-width=30 min-size-height=30 ! one. \
    $still=14 ! videoconvert ! facedetect display=false profile=/nonexistent.xml ! one. >detector.log 2>&1
  split -b $((512 * 512 * 3)) hidden.raw frame.
  for frame in frame.*; do
    mv "$frame" hidden.raw
    own=$(measure_portrait 'print(detail(ellipse(185, 74, 77, 77))[2])')
    frames=$((frames + 1))
    ((own < 100)) || shown=$((shown + 1))
  done
  ((frames == 17)) || fail "$frames frames, not 17: $(cat detector.log)" >&2
  echo $shown
}

# check_report WHAT: checks that log reports less than a tenth of the detail left in WHAT, and no change elsewhere.
check_report()
{
  expect "detail left in $1, in a thousand" "10#$(sed -n "s/.* \([0-9]*\)\.\([0-9]\) % of the detail in $1 is left\$/\1\2/p" log)" \
    '<' 100
  grep -q '^samples outside: [1-9][0-9]*, of which changed: 0$' log || fail "what is not to be hidden has changed"
}

# measure_portrait CODE: runs Python code, in which `before` and `after` are plain.raw and hidden.raw, RGB of 512x512.
measure_portrait()
{
  python3 - "$1" <<'PYTHON'
import re
import sys
WIDTH = 512
before, after = open('plain.raw', 'rb').read(), open('hidden.raw', 'rb').read()
assert len(before) == len(after) == WIDTH * WIDTH * 3, f'{len(before)} and {len(after)} bytes are no frame of 512x512'

def ellipse(x, y, w, h):
    return [(column, row) for row in range(y, y + h) for column in range(x, x + w)
            if ((column - x + 0.5) / w * 2 - 1) ** 2 + ((row - y + 0.5) / h * 2 - 1) ** 2 < 1]

def changed(pixels):
    return sum(before[i] != after[i] for x, y in pixels for i in range((y * WIDTH + x) * 3, (y * WIDTH + x) * 3 + 3))

def detail(pixels):
    """Mean differences between neighbours before and after, in hundredths; the part of its own left, in a thousand."""
    at = [(y * WIDTH + x) * 3 + 1 for x, y in pixels]
    pairs = [(before[i + step] - before[i], after[i + step] - after[i]) for i in at for step in (3, 3 * WIDTH)]
    return (*(sum(abs(pair[k]) for pair in pairs) * 100 // len(pairs) for k in (0, 1)),
            abs(sum(a * b for a, b in pairs)) * 1000 // sum(a * a for a, _ in pairs))

exec(sys.argv[1])
PYTHON
}

# Prints the detail in the face's ellipse, from facedetect's message in log, and how many samples far from it differ.
one_face()
{
  measure_portrait "
number = r'\W+uint\W+(\d+)\W+'
found = re.search(f'face\W+x{number}y{number}width{number}height{number}', open('log').read())
x, y, w, h = map(int, found.groups())
dx, dy = 0.2 * w + 12, 0.2 * h + 12
print(*detail(ellipse(x, y, w, h)), changed([(column, row) for row in range(WIDTH) for column in range(WIDTH)
      if not (x - dx <= column < x + w + dx and y - dy <= row < y + h + dy)]))"
}

# Prints how many samples differ in the face, at its known place, and the detail in an ellipse on a rocket beside it.
face_and_rocket()
{
  measure_portrait "print(changed(ellipse(185, 74, 77, 77)), *detail(ellipse(370, 40, 110, 200)))"
}

# First the script; then its program on one frame of the portrait, without loss: the face is sharp, the rocket is not.
test_background()
{
  local face before after own
  need_portrait
  choose_type
  FRAMES=$frames OUTPUT=out.$type run_logged "$pipelines/background.sh" --verbose
  ((status == 0)) || fail "exit status $status"
  check_report 'the background'
  expect "frames with a person" "$(sed -n 's/^people were found in \([0-9]*\) of .*/\1/p' log)" '>=' $((frames * 9 / 10))
  run_logged "$CUDACONVOLVE_BUILD/pipelines/background" -- filesrc "location=$photo" ! pngdec ! imagefreeze num-buffers=1 \
    ! videoconvert ! video/x-raw,format=RGB ! tee name=t t. ! queue ! filesink location=plain.raw \
    t. ! queue ! cudaconvolve backend=cpu radius=48 roi-source=meta roi-invert=true ! filesink location=hidden.raw
  ((status == 0)) || fail "exit status $status"
  read -r face before after own <<<"$(face_and_rocket)"
  echo "samples changed in the face: $face; detail of the rocket: $before before, $after after, of its own $own in a thousand"
  expect "samples changed in the face" "$face" == 0
  expect "detail of the rocket's own, in a thousand" "$own" '<' 100
}

case ${1:-} in
embed | embed_py | blur | edges | sharpen | compare | tenbit | privacy | denoise | motionblur | timedelta | multi_gpu | \
  gallery | sound | files | refused | ended | demo | faces | background)
  "test_$1"
  ;;
*) fail "usage: examples.sh EXAMPLE, one of those that the head of this script lists" ;;
esac
