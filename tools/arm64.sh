#!/usr/bin/env bash
# Builds the native module for ARM64 and runs its tests in an emulator; part of make processors.
#
# Needs Debian or Ubuntu (no root) with
#   apt install qemu-user g++-aarch64-linux-gnu cmake ninja-build debian-archive-keyring
# and a network. An ARM64 Python from Debian and wheels from the Python package index are unpacked
# under build/arm64 and reused; nothing is installed on the machine.
#
#   tools/arm64.sh ARGUMENTS OF PYTEST
set -eu
cd "$(dirname "$0")/.."

for tool in qemu-aarch64 aarch64-linux-gnu-g++ cmake ninja apt-get dpkg-deb; do
  command -v "$tool" > /dev/null || { echo "arm64: $tool is missing; see $0" >&2; exit 1; }
done

here=$PWD/build/arm64
root=$here/root       # files of Debian packages
site=$here/site       # Python packages, ctsne among them
python=$here/python   # the emulated interpreter
version=3.11          # of Python in that release of Debian
release=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
pip="${PYTHON:-python3} -m pip --disable-pip-version-check"

if [ ! -e "$here/.root" ]; then
  echo "arm64: unpacking Python $version for ARM64 from Debian $release"
  rm -rf "$root" "$here/apt"
  mkdir -p "$root" "$here"/apt/lists/partial "$here"/apt/cache/archives/partial
  : > "$here/apt/status"
  echo "deb [signed-by=$keyring] http://deb.debian.org/debian $release main" > "$here/apt/sources"
  apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Debug::NoLocking=1
    -o APT::Sandbox::User="$(id -un)" -o Dir::State="$here/apt" -o Dir::Cache="$here/apt/cache"
    -o Dir::State::status="$here/apt/status" -o Dir::Etc::sourcelist="$here/apt/sources"
    -o Dir::Etc::sourceparts=/dev/null)
  "${apt[@]}" update
  "${apt[@]}" install --yes --no-install-recommends --download-only \
    "python$version-minimal" "libpython$version-stdlib" "libpython$version-dev" libstdc++6 > /dev/null
  for package in "$here"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  touch "$here/.root"
fi

# The tests start Python again by its own name, so that must be this script.
cat > "$python" <<SCRIPT
#!/bin/sh
export PYTHONHOME="$root/usr" PYTHONPATH="$site"
exec qemu-aarch64 -L "$root" -0 "\$0" "$root/usr/bin/python$version" "\$@"
SCRIPT
chmod +x "$python"

if [ ! -e "$here/.site" ] || [ pyproject.toml -nt "$here/.site" ]; then
  echo "arm64: fetching Python packages for ARM64"
  rm -rf "$site"
  $pip install --quiet --quiet --target "$site" --only-binary=:all: --python-version "$version" \
    --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 \
    joblib numpy scipy scikit-learn threadpoolctl tqdm nanobind hypothesis pytest
  touch "$here/.site"
fi

echo "arm64: building the native module"
cmake -S . -B "$here/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_CXX_FLAGS="-idirafter $root/usr/include" \
  -DPython_EXECUTABLE="$python" -DPython_INCLUDE_DIR="$root/usr/include/python$version" > "$here/cmake.log"
cmake --build "$here/cmake" >> "$here/cmake.log" || { cat "$here/cmake.log" >&2; exit 1; }
rm -rf "$site/ctsne"
cp -R src/ctsne "$site/ctsne"
cmake --install "$here/cmake" --prefix "$site" > /dev/null

echo "arm64: testing on $("$python" -c 'import platform; print(platform.machine(), "Python", platform.python_version())')"
# The emulator aborts a child that starts threads if its parent had many of them, in any program.
fork=tests/layout/test_threads.py::test_a_forked_child_has_threads_of_its_own
"$python" -m pytest -p no:cacheprovider -q --deselect "$fork" "$@"
exec "$python" -m pytest -p no:cacheprovider -q "$fork"
