#!/bin/bash
cd /app/service
sed -i 's/^workers = .*/workers = 4/' config.ini
sed -i 's/^timeout = .*/timeout = 10/' conf.d/10-limits.ini
sed -i 's|^data = .*|data = /app/service/data/catalog.tsv|' conf.d/90-site.ini
mkdir -p run
python3 serve.py --check
