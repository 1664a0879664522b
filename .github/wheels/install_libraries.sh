#!/usr/bin/env bash
# What the extension needs of C and C++, into an image of manylinux: Eigen (headers) from the
# image's repositories; GLPK and LEMON (headers), which they do not have in the versions that the tests use, from source.
set -euo pipefail

# download SHA256 FILE URL...: the first URL that has it; a file with another checksum is refused.
download() {
  local sum=$1 file=$2 url
  shift 2
  for url; do
    curl -fsSL --retry 3 -o "$file" "$url" && echo "$sum  $file" | sha256sum --check --quiet && return
  done
  echo "no source of $file works" >&2
  return 1
}

mkdir -p build && touch build/apt-BUILD.stamp # the Makefile has no package of Debian to install here
work=$(mktemp -d)
cd "$work"

dnf install -y eigen3-devel

download 4a1013eebb50f728fc601bdd833b0b2870333c3b3e5a816eeba921d95bec6f15 glpk.tar.gz \
  https://ftpmirror.gnu.org/glpk/glpk-5.0.tar.gz https://ftp.gnu.org/gnu/glpk/glpk-5.0.tar.gz
mkdir glpk && tar -xzf glpk.tar.gz -C glpk --strip-components 1
(cd glpk && ./configure --quiet --disable-static --disable-dl && make -s -j "$(nproc)" && make -s install)

# Headers only: its library is not linked, so the configuration that its CMake files would write is these three lines.
lemon=71b7c725f4c0b4a8ccb92eb87b208701586cf7a96156ebd821ca3ed855bad3c8
download $lemon lemon.tar.gz \
  https://lemon.cs.elte.hu/pub/sources/lemon-1.3.1.tar.gz \
  https://mirror.spack.io/_source-cache/archive/71/$lemon.tar.gz
mkdir lemon && tar -xzf lemon.tar.gz -C lemon --strip-components 1
mkdir -p /usr/local/include/lemon
(cd lemon/lemon && cp -r ./*.h bits concepts /usr/local/include/lemon/)
printf '#define %s\n' 'LEMON_VERSION "1.3.1"' 'LEMON_HAVE_LONG_LONG 1' 'LEMON_USE_PTHREAD 1' \
  >/usr/local/include/lemon/config.h

echo /usr/local/lib >/etc/ld.so.conf.d/local.conf  # where auditwheel looks for GLPK
ldconfig
rm -rf "$work"
