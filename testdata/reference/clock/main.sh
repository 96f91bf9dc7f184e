if grep -q nowhere "$ARGOPERATOR_REQUEST"; then
  echo "unknown time zone" >&2
  exit 1
fi
echo '{"children": [], "resyncAfterSeconds": 60}' > "$ARGOPERATOR_RESPONSE"
