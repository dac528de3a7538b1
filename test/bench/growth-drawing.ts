// Draws docs/growth.svg: times on logarithmic axes, where linear growth is a diagonal and no growth a level line, and
// the memory beside them.

interface Result {
  readonly times: Readonly<Record<string, number>>
  readonly memory: Readonly<Record<string, number>>
}

/** The size in pixels of the picture, and of the two frames in it. */
const WIDTH = 1020
const HEIGHT = 470
const TOP = 64
const BOTTOM = 412
const LEFT = { from: 62, to: 382 }
const RIGHT = { from: 690, to: 860 }
const LINE_HEIGHT = 17
const COLOURS = '#1f77b4 #d62728 #2ca02c #9467bd #ff7f0e #17becf #8c564b #e377c2 #7f7f7f #bcbd22'.split(' ')

export function drawing(sizes: readonly number[], results: readonly Result[], watches: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>
${[...timesPanel(sizes, results), ...memoryPanel(sizes, results, watches)].join('\n')}
</svg>
`
}

/** Maps a value to a pixel. */
type Scale = (value: number) => number

export const logarithmic =
  (least: number, most: number, from: number, to: number): Scale =>
  (value) =>
    from + ((Math.log(value) - Math.log(least)) / (Math.log(most) - Math.log(least) || 1)) * (to - from)

const linear =
  (most: number, from: number, to: number): Scale =>
  (value) =>
    from + (value / most) * (to - from)

function timesPanel(sizes: readonly number[], results: readonly Result[]): string[] {
  const names = Object.keys(results[0]!.times)
  const relative = (name: string) => results.map(({ times }) => times[name]! / results[0]!.times[name]!)
  const all = names.flatMap(relative)
  const x = logarithmic(sizes[0]!, sizes.at(-1)!, LEFT.from, LEFT.to)
  const y = logarithmic(Math.min(0.5, ...all), Math.max(sizes.at(-1)! / sizes[0]!, ...all), BOTTOM, TOP)
  const levels = [1, 10, 100].filter((level) => level <= sizes.at(-1)! / sizes[0]!)
  const lines = names.map((name) => {
    const values = relative(name)
    return { name: `${name} ×${short(values.at(-1)!)} (${short(results.at(-1)!.times[name]!)} ms)`, values }
  })
  return [
    text(LEFT.from, 24, `Time of a request, relative to ${count(sizes[0]!)} Pods of 2 KB`, 'font-size="15"'),
    ...grid(levels, y, LEFT, (level) => `${level}×`),
    ...ticks(sizes, x),
    `<line x1="${px(x(sizes[0]!))}" y1="${px(y(1))}" x2="${px(x(sizes.at(-1)!))}" y2="${px(y(sizes.at(-1)! / sizes[0]!))}" stroke="#bbb" stroke-dasharray="4 4"/>`,
    text(x(sizes.at(-1)!) - 70, y(sizes.at(-1)! / sizes[0]!) + 14, 'in proportion', 'text-anchor="end" fill="#999"'),
    ...labelledLines(lines, sizes, x, y, LEFT.to),
  ]
}

function memoryPanel(sizes: readonly number[], results: readonly Result[], watches: number): string[] {
  const names = Object.keys(results[0]!.memory)
  const all = results.flatMap(({ memory }) => Object.values(memory))
  const step = Math.max(...all) > 400 ? 200 : 100
  const most = Math.ceil(Math.max(...all) / step) * step
  const x = logarithmic(sizes[0]!, sizes.at(-1)!, RIGHT.from, RIGHT.to)
  const y = linear(most, BOTTOM, TOP)
  const levels = Array.from({ length: most / step + 1 }, (_, n) => n * step)
  const lines = names.map((name) => {
    const values = results.map(({ memory }) => memory[name]!)
    return { name: `${values.at(-1)!.toFixed(0)} ${name}`, values }
  })
  return [
    text(RIGHT.from, 24, `MB resident, with ${watches} watches`, 'font-size="15"'),
    ...grid(levels, y, RIGHT, String),
    ...ticks(sizes, x),
    ...labelledLines(lines, sizes, x, y, RIGHT.to),
  ]
}

function grid(
  levels: readonly number[],
  y: Scale,
  { from, to }: typeof LEFT,
  named: (level: number) => string,
): string[] {
  return levels.map(
    (level) =>
      `<line x1="${from}" x2="${to}" y1="${px(y(level))}" y2="${px(y(level))}" stroke="#e4e4e4"/>` +
      text(from - 8, y(level) + 4, named(level), 'text-anchor="end"'),
  )
}

const ticks = (sizes: readonly number[], x: Scale): string[] =>
  sizes.map((size) => text(x(size), BOTTOM + 24, `${count(size)} Pods`, 'text-anchor="middle"'))

interface Line {
  readonly name: string
  readonly values: readonly number[]
}

/** Puts each name at the end of its line, and moves names apart that would overlap. */
function labelledLines(lines: readonly Line[], sizes: readonly number[], x: Scale, y: Scale, edge: number): string[] {
  const ends = lines.map(({ values }, n) => ({ n, y: y(values.at(-1)!) })).sort((a, b) => a.y - b.y)
  for (let at = 1; at < ends.length; at++) ends[at]!.y = Math.max(ends[at]!.y, ends[at - 1]!.y + LINE_HEIGHT)
  let lowest = BOTTOM + 4
  for (const end of ends.toReversed()) {
    end.y = Math.min(end.y, lowest)
    lowest = end.y - LINE_HEIGHT
  }
  return ends.flatMap(({ n, y: labelY }) => {
    const { name, values } = lines[n]!
    const colour = COLOURS[n % COLOURS.length]!
    const points = values.map((value, at) => `${px(x(sizes[at]!))},${px(y(value))}`)
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(
        (point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour}"/>`,
      ),
      `<line x1="${edge + 4}" y1="${px(y(values.at(-1)!))}" x2="${edge + 22}" y2="${px(labelY)}" stroke="${colour}"/>`,
      text(edge + 26, labelY + 4, name, `fill="${colour}"`),
    ]
  })
}

export const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${px(x)}" y="${px(y)}" ${attributes}>${content}</text>`

export const px = (value: number): string => value.toFixed(1)
const short = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(1))
const count = (size: number): string => (size >= 1000 ? `${size / 1000}k` : String(size))
