#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# zcopy-plot.sh JSON...: a picture beside each of zcopy.sh's results, JSON.svg, with gnuplot:
# throughput and latency by size, throughput by number of connections.
set -euo pipefail

command -v gnuplot >/dev/null || { echo "zcopy-plot.sh: gnuplot is not installed (gnuplot-nox)" >&2; exit 1; }

# blocks JSON: gnuplot data blocks, one for each column of each table
blocks() {
	python3 - "$1" <<-'EOT'
	import json, re, sys
	data = json.load(open(sys.argv[1], encoding='ascii'))
	plots = {'bw': {}, 'conns': {}, 'lat': {}}
	for v in data['mb_per_s']:
	    m = re.fullmatch(r'(\w+)-(\d+)', v['column'])
	    if m:
	        plots['conns'].setdefault(m[1], []).append((int(m[2]), v['value']))
	    else:
	        plots['bw'].setdefault(v['column'], []).append((v['size'], v['value']))
	for v in data['lat_us']:
	    plots['lat'].setdefault(v['column'], []).append((v['size'], v['value']))
	for plot, columns in plots.items():
	    for name, points in columns.items():
	        print(f'${plot}_{name} << EOD')
	        for point in sorted(points):
	            print(*point)
	        print('EOD')
	for plot, columns in plots.items():
	    parts = ', '.join(f'${plot}_{n} with linespoints title "{n}"' for n in sorted(columns))
	    print(f'{plot} = \'{parts}\'')
	EOT
}

for json; do
	{
		blocks "$json"
		cat <<-EOT
		set terminal svg size 1200,420 background "white"
		set output "$json.svg"
		set multiplot layout 1,3
		set key left top
		set logscale x 2
		set yrange [0:*]
		set format x "%b%B"
		set xlabel "bytes"
		set title "throughput, MB/s"
		eval "plot ".bw
		set logscale y
		set yrange [*:*]
		set title "one way, us"
		eval "plot ".lat
		unset logscale y
		set yrange [0:*]
		set format x "%g"
		set xlabel "connections"
		set title "1 MB, MB/s"
		eval "plot ".conns
		EOT
	} | gnuplot
	echo "$json.svg"
done
