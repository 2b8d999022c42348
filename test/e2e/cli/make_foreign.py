"""make_foreign.py PACKAGE FILE [keep]: in PACKAGE, the weights lie in FILE from now on; what was known of the file they lay in goes, or is kept."""
import json
import os
import sys

package, path = sys.argv[1:3]
name = f'{package}/manifest.json'
manifest = json.load(open(name))
for stage in manifest['stages']:
    for weight in stage.get('weights', []):
        external = weight['external']
        external['file'] = path
        external.pop('offset', None)
        if 'keep' in sys.argv:
            status = os.stat(os.path.join(package, path))
            external['file_size'], external['file_mtime_ns'] = str(status.st_size), str(status.st_mtime_ns)
        else:
            for key in ('fingerprint', 'file_size', 'file_mtime_ns'):
                external.pop(key, None)
json.dump(manifest, open(name, 'w'))
