#!/bin/sh
# A compiler's launcher for precompiled headers, before a compiler cache: removes what stands at -o. The compiler would read the headers
# of the build before first, and the cache take them for a part of the sources: in a clean clone it would find nothing.
for word do
  if [ "$previous" = -o ]; then rm -f "$word"; fi
  previous=$word
done
exec "$@"
