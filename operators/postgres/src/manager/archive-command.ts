/** The archive_command of PostgreSQL: hands a segment to the archiver beside it, and waits for its answer. */
import { archivePath } from "../kind/names.ts";

/** Where install-manager leaves the script, in the volume with the program. */
export const archiveScriptName = "archive.sh";

/**
 * `archive.sh PATH NAME`. It answers for what is in the store, and for nothing less. Without an answer in
 * time it fails, and PostgreSQL tries again.
 */
export const archiveScript = `#!/bin/sh
umask 007
folder="${archivePath}"
rm -f "$folder/$2.stored" "$folder/$2.failed"
# Not cp, which keeps the mode of the server's own file.
cat "$1" > "$folder/$2.part" || exit 1
mv "$folder/$2.part" "$folder/$2" || exit 1
tries=0
while [ "$tries" -lt 600 ]; do
  if [ -e "$folder/$2.stored" ]; then
    rm -f "$folder/$2.stored"
    exit 0
  fi
  if [ -e "$folder/$2.failed" ]; then
    cat "$folder/$2.failed" >&2
    rm -f "$folder/$2.failed"
    exit 1
  fi
  tries=$((tries + 1))
  sleep 0.1
done
echo "the archiver has not answered for a minute; its container's log says why" >&2
exit 1
`;
