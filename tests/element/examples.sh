#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs one of pipelines/ on a short clip, without a display and in a folder of its own, and looks at the pixels of what
# it writes. Uses the build in CUDACONVOLVE_BUILD, and neither installs nor builds anything.
#
# Usage: tests/element/examples.sh embed|embed_py|blur|edges|sharpen|compare|tenbit|privacy|denoise|motionblur|timedelta|multi_gpu|
#        gallery|sound|files|refused|ended|demo|faces|background
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../support/examples.sh"

width=320 height=240 frames=30

# make_clip [SETTING...]: flat bars with sharp edges, and noise in a corner; or of the test picture with these settings.
make_clip()
{
  local sink=(x264enc speed-preset=veryfast ! mp4mux) picture=("$@")
  [[ $type == mp4 ]] || sink=(theoraenc ! oggmux)
  (($#)) || picture=(horizontal-speed=2)
  gst-launch-1.0 -q videotestsrc num-buffers=$frames "${picture[@]}" \
    ! "video/x-raw,format=I420,width=$width,height=$height,framerate=30/1" ! "${sink[@]}" \
    ! filesink "location=clip.$type"
}

# measure FILE WIDTH HEIGHT: decodes it to grey. Prints the number of frames and, of the middle one, the darkest and the
# lightest sample and the detail of its left and its right half: the mean difference between neighbours, in hundredths.
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

# run_script SCRIPT [ARGUMENT...]: on the clip; what it says goes to log.
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

# run_filters SCRIPT FILTER...: which do not have all that the script sets for its own.
run_filters()
{
  local filter
  for filter in "${@:2}"; do
    FILTER=$filter run_script "$1"
  done
}

# filtered SCRIPT [WIDTH HEIGHT]: of a script that writes video of the clip's type, into `before` and `after`.
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

# The clip is 4:3 and each half 16:9, so that a half has black at its sides; both have that alike.
test_compare()
{
  filtered compare 1920 540
  expect "detail on the left, of the original" "${after[3]}" '>' $((after[4] * 3 / 2))
  expect "detail on the right" "${after[4]}" '>' 0
}

# FFV1 loses nothing: only a filter that keeps 10 bits makes more levels than the 8 bits of the clip have.
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

# Rectangles of one's own in a file, and then what is drawn without one, whose regions move.
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

# The plate of a car of the town, which is at this place after 20 frames, is hidden too.
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

# inside_and_outside FILE BOX...: of the middle frame of the clip and of a file, the detail in the boxes before and after
# (squared differences of neighbours: an edge that is spread over many samples counts less), and the mean change outside of
# what the boxes may grow to, all in hundredths.
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

# Raw, so that what is not hidden must be the same to the bit.
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

# play_faces FILE SETTING...: the drawn faces in raw frames.
play_faces()
{
  "$CUDACONVOLVE_BUILD/pipelines/privacy" -- videotestsrc num-buffers=$frames pattern=smpte75 \
    ! "video/x-raw,format=NV12,width=$width,height=$height,framerate=30/1" \
    ! cudaconvolve backend=cpu roi-source=meta "${@:2}" ! filesink "location=$1" >log 2>&1 || {
    cat log
    fail "privacy exits with an error"
  }
}

# Of the luma of plain.raw and hidden.raw: how much of it differs, in a hundred; how far the middle of that moves from the
# first frame to the last; and the detail there before and after.
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

# A picture that stands still is mid-grey all over, but for what coding makes of it; bars that move leave both signs.
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

# A blur within the picture would light samples ahead of the ball too.
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

# Of the middle frames of grey.raw and after.raw: how many samples are lit after but not before, where the ball was in one
# of the ten frames earlier, and where it was not.
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

# Noise over the bars of a clip; then the PSNR of what is made without one.
test_denoise()
{
  choose_type
  make_noisy_clip
  filtered denoise
  expect "detail left of the noise" "${after[3]}" '<' $((before[3] * 3 / 5)) # coding alone leaves 3 / 4
  expect "contrast of large areas" $((after[2] - after[1])) '>' 120
  FRAMES=$frames "$pipelines/denoise.sh" >log 2>&1 || fail "denoise.sh without a file: $(cat log)"
  read -ra psnr <<<"$(sed -n 's/^== PSNR in dB: before \([0-9]*\)\.[0-9], after \([0-9]*\)\.[0-9]$/\1 \2/p' log)"
  echo "PSNR in dB: ${psnr[*]}"
  expect "PSNR of noise, in dB" "${psnr[0]}" '<' 40
  expect "PSNR without noise, in dB" "${psnr[1]}" '>=' $((psnr[0] + 4))
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

# Every filter of the element has a picture, no two are the same, and a few show what they should.
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

# The pictures are those of the photo, at the width of the gallery.
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

# A ball alone covers some 900 samples, and none beyond 170 columns.
check_gallery_time()
{
  local values behind ahead noise left
  # The gaussian over 15 frames leaves a third of the noise, and all of the picture's own detail.
  noise=$(($(detail_of time-noisy) - identity))
  left=$(($(detail_of time-denoised) - identity))
  echo "detail of noise: $noise; left of it in time-denoised: $left"
  expect "left of the noise in time-denoised" "$left" '<' $((noise * 2 / 5))
  expect "left of the noise in time-denoised" "$left" '>' 0
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

# lit_samples COLUMN: how many samples of grey.raw are lighter than the sky of their row, before that column and from it on.
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

# run_logged COMMAND...: into log; leaves the exit status in `status`, and skips where it is 77.
run_logged()
{
  status=0
  "$@" >log 2>&1 || status=$?
  cat log
  [[ $status != 77 ]] || exit 77
}

# Python's GStreamer belongs to the Python of the system, which another one may hide.
choose_python()
{
  python=python3
  "$python" -c 'import gi' 2>/dev/null || [[ ! -x /usr/bin/python3 ]] || python=/usr/bin/python3
}

# check_embed COMMAND...: a generated picture at the speed of the video, so that the change comes while it plays; a file
# that is not there is an error.
check_embed()
{
  run_logged "$@"
  ((status == 0)) || fail "exit status $status"
  grep -q '^ *frames: 90$' log || fail "the statistics do not say that there were 90 frames"
  grep -q 'gaussian with a growing sigma' log || fail "the filter did not change while playing"
  ! grep '^warning from ' log || fail "it sets what has no effect"
  # A sigma near 8 has 49 taps, and an animation that stands still has 7.
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

# Streams in tenths of a frame/s. All must be there, and their sum be what they make together.
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

# The clip, with a tone.
make_clip_with_sound()
{
  local video=(x264enc speed-preset=veryfast) sound=(avenc_aac) mux=mp4mux
  [[ $type == mp4 ]] || video=(theoraenc) sound=(vorbisenc) mux=oggmux
  gst-launch-1.0 -q videotestsrc num-buffers=$frames horizontal-speed=2 \
    ! "video/x-raw,format=I420,width=$width,height=$height,framerate=30/1" ! "${video[@]}" ! queue ! mux. \
    audiotestsrc num-buffers=40 ! audio/x-raw,rate=44100,channels=2 ! audioconvert ! "${sound[@]}" ! queue ! mux. \
    $mux name=mux ! filesink "location=clip.$type"
}

# Prints the number of bytes of decoded sound, and of frames. Both streams are linked: decodebin may wait for one that is not.
sound_and_frames()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin name=decoded decoded. ! queue ! audio/x-raw ! filesink location=sound.raw \
    decoded. ! queue ! videoconvert ! "video/x-raw,format=GRAY8,width=$width,height=$height" ! filesink location=grey.raw
  echo "$(stat -c %s sound.raw) $(($(stat -c %s grey.raw) / (width * height)))"
}

# Kept as it is where the container takes it, else encoded anew.
test_sound()
{
  local output after
  choose_type
  [[ $type == ogv ]] || have avenc_aac || skip "needs AAC: gstreamer1.0-libav"
  make_clip_with_sound
  OUTPUT=out.$type run_script blur
  grep -q '^sound: as it is$' log || fail "the sound is encoded anew"
  [[ $(sound_and_frames "out.$type") == $(sound_and_frames "clip.$type") ]] || fail "not the sound and the frames of the clip"
  for output in out.mkv out.webm; do
    have matroskamux vp8enc opusenc x264enc || continue
    OUTPUT=$output run_script blur
    read -ra after <<<"$(sound_and_frames $output)"
    expect "bytes of sound in $output" "${after[0]}" '>' 100000
    expect "frames in $output" "${after[1]}" == $frames
  done
}

# decoded_caps FILE: of its video.
decoded_caps()
{
  gst-launch-1.0 -v filesrc "location=$1" ! decodebin ! video/x-raw ! fakesink name=end |
    sed -n '/end.GstPad:sink: caps/{s/.*caps = //;s/([a-z]*)//g;p;q}'
}

# What is written plays everywhere unless asked otherwise; of a picture a picture is made.
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
  grep -q '^v210, which the filter does not take, is converted to I422_10LE$' log || fail "the conversion is not told"
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

# turn_photo FILE: says in a .jpg that a viewer is to turn it clockwise, as cameras do.
turn_photo()
{
  python3 - "$1" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], 'rb').read()
exif = b'Exif\0\0' + b'MM' + struct.pack('>HIHHHIHHI', 42, 8, 1, 0x112, 3, 1, 6, 0, 0)
open(sys.argv[1], 'wb').write(data[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + data[2:])
PYTHON
}

# far_samples PICTURE PICTURE: in their grey, all of them where the sizes differ.
far_samples()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=one.raw
  gst-launch-1.0 -q filesrc "location=$2" ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=other.raw
  python3 -c "one, other = open('one.raw', 'rb').read(), open('other.raw', 'rb').read()
print(sum(abs(a - b) > 4 for a, b in zip(one, other)) if len(one) == len(other) else len(one) + len(other))"
}

# turn FILE: says in an .mp4 that a player is to turn it, as telephones do.
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
  refuses 'radius takes -1 to 512; without it: -1' RADIUS=600 "$blur" "clip.$type"
  refuses 'filter takes one of identity .* custom; without it: gaussian' FILTER=blurry "$blur" "clip.$type"
  refuses 'kernel-t takes a list, like <1,2,1>' KERNEL='<1' "$pipelines/timedelta.sh" "clip.$type"
  refuses 'radius takes -1 to 512; without it: -1' RADIUS=600 "$pipelines/multi-gpu.sh"
  refuses 'OUTPUT must end in .mp4 .mkv .webm' OUTPUT=out.avi "$blur" "clip.$type"
  refuses 'FRAMES must be' FRAMES=-1 "$blur"
  refuses 'PATIENCE must be a number from 0' PATIENCE=soon "$blur"
  refuses 'is a folder' "$blur" .
  refuses 'does not take it' FORMAT=NV61 "$blur" "clip.$type"
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

# Told to end in the midst of a file, the script leaves nothing of it.
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

# Waits for the file that is not complete; fills `part` with its folder.
await_part()
{
  local i
  for ((i = 0; i < 200; i++)); do
    part=$(compgen -G '*.part') && [[ -s $part/out.$type ]] && return
    sleep 0.1
  done
  fail "out.$type is not being written"
}

# await CONDITION...: of [, for 20 s at most.
await()
{
  local i
  for ((i = 0; i < 200; i++)); do
    [ "$@" ] && return
    sleep 0.1
  done
  fail "waited for: $*"
}

# In the last of 90 frames the line is at 9 / 10 of the width; what is left of it is sharp. At first it is at 1 / 10.
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

# The script on the portrait that moves, and its pipeline on one frame of the portrait, without loss.
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

# test_dead_detector SETTING...: those of faces.sh. A detector that dies shows the face once roi-smooth is over, as the
# script states; with MISSING=filter, and with the preset privacy, no frame shows it.
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

# frames_with_the_face SETTING...: of 3 of the portrait in which facedetect finds the face and 14 after it has died: without
# its profile it passes frames on and finds nothing. Needs plain.raw, a frame of the portrait.
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

# check_report WHAT: that less than a tenth of the detail is left there, and that all else is the same bit for bit.
check_report()
{
  expect "detail left in $1, in a thousand" "10#$(sed -n "s/.* \([0-9]*\)\.\([0-9]\) % of the detail in $1 is left\$/\1\2/p" log)" \
    '<' 100
  grep -q '^samples outside: [1-9][0-9]*, of which changed: 0$' log || fail "what is not to be hidden has changed"
}

# measure_portrait CODE: in Python, with plain.raw and hidden.raw, frames of RGB of 512x512, as before and after.
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

# Of the message of facedetect in log: the detail in the ellipse of the face, and the samples that differ far from it.
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

# The samples that differ in the face, whose place is known, and the detail in the ellipse of a rocket beside it.
face_and_rocket()
{
  measure_portrait "print(changed(ellipse(185, 74, 77, 77)), *detail(ellipse(370, 40, 110, 200)))"
}

# The script, and its program on one frame of the portrait, without loss: the face is sharp, a model of a rocket is not.
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
