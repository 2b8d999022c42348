# Runs "$@" with less and less address space: it works, or fails with one error and status 1 (127: the loader found no room for the program itself).
for kib in 3000000 650000 600000 550000 500000 460000 420000 400000 390000 380000; do
  text=$( (ulimit -v $kib; exec "$@") 2>&1 >/dev/null)
  status=$?
  case $status in
    0|127) ;;
    1) [ "$(printf '%s\n' "$text" | grep -c '^pipec: error: ')" = 1 ] || { echo "$kib KiB: $text"; exit 1; } ;;
    *) echo "$kib KiB: status $status: $text"; exit 1 ;;
  esac
  echo "status $status"
done
