// Draws docs/definitions.svg: the cost of growing numbers of CustomResourceDefinitions. Each measure has a panel with
// logarithmic axes and a line for each server.
import { logarithmic, px, text } from './growth-drawing.ts'

type Figures = Readonly<Record<string, number>>

/** Panels by the name of the measure in definitions.ts. */
const PANELS = [
  'Established, s',
  'CPU until then, s',
  'a get meanwhile, p99 ms',
  'resident when created, MB',
  'OpenAPI v2, first byte, ms',
  'discovery, ms',
  'start to ready, ms',
  'resident when started, MB',
]
const ACROSS = 4
/** In pixels. */
const PANEL = { width: 250, height: 210 }
const FRAME = { left: 48, right: 20, top: 58, bottom: 34 }
const COLOURS = ['#1f77b4', '#d62728', '#2ca02c']

export function drawing(sizes: readonly number[], results: ReadonlyMap<string, readonly Figures[]>): string {
  const width = PANEL.width * ACROSS
  const height = 30 + PANEL.height * Math.ceil(PANELS.length / ACROSS)
  const panels = PANELS.flatMap((what, at) => {
    const [x, y] = [(at % ACROSS) * PANEL.width, 30 + Math.floor(at / ACROSS) * PANEL.height]
    return [`<g transform="translate(${x} ${y})">`, ...panel(what, sizes, results), '</g>']
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="white"/>
${[...legend([...results.keys()]), ...panels].join('\n')}
</svg>
`
}

const legend = (names: readonly string[]): string[] => [
  text(16, 24, 'CustomResourceDefinitions of 20 KB', 'font-size="15"'),
  ...names.map((name, at) => text(300 + at * 130, 24, `— ${name}`, `fill="${COLOURS[at]}" font-size="13"`)),
]

function panel(what: string, sizes: readonly number[], results: ReadonlyMap<string, readonly Figures[]>): string[] {
  const lines = [...results.values()].map((figures) => figures.map((one) => one[what]))
  const all = lines.flat().filter((value) => value !== undefined)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const x = logarithmic(sizes[0]!, sizes.at(-1)!, FRAME.left, PANEL.width - FRAME.right - 30)
  const y = logarithmic(least, Math.max(most, least * 2), PANEL.height - FRAME.bottom, FRAME.top)
  return [
    text(FRAME.left - 32, 34, what, 'font-size="13"'),
    `<line x1="${FRAME.left}" x2="${PANEL.width - FRAME.right}" y1="${px(PANEL.height - FRAME.bottom)}" y2="${px(PANEL.height - FRAME.bottom)}" stroke="#ccc"/>`,
    ...sizes.map((size) => text(x(size), PANEL.height - 14, String(size), 'text-anchor="middle" fill="#666"')),
    ...lines.flatMap((values, side) => line(values, sizes, x, y, COLOURS[side]!)),
  ]
}

function line(
  values: readonly (number | undefined)[],
  sizes: readonly number[],
  x: (value: number) => number,
  y: (value: number) => number,
  colour: string,
): string[] {
  const points = values.flatMap((value, at) => (value === undefined ? [] : [{ value, x: x(sizes[at]!), y: y(value) }]))
  return [
    `<polyline points="${points.map((point) => `${px(point.x)},${px(point.y)}`).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...points.flatMap((point) => [
      `<circle cx="${px(point.x)}" cy="${px(point.y)}" r="3" fill="${colour}"/>`,
      text(point.x + 5, point.y - 5, short(point.value), `fill="${colour}"`),
    ]),
  ]
}

const short = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2))
