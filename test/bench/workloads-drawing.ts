// Draws docs/workloads.svg: the CPU cost of workloads, with a panel for each and a bar for each server. It draws no
// times, because these depend on the machine's other work.
import { px, text } from './growth-drawing.ts'

export interface Figures {
  readonly seconds: number
  /** Seconds of CPU of all the server's processes. */
  readonly cpu: number
}

/** Figures by server and then by measure. */
export type Sides = Readonly<Record<string, Readonly<Record<string, Figures>>>>

/** In pixels. */
const PANEL = { width: 250, height: 150 }
const BAR = { left: 16, longest: 150, height: 20, gap: 10, top: 46 }
const COLOURS = ['#1f77b4', '#d62728', '#ff7f0e']

export function drawing(sides: Sides): string {
  const names = Object.keys(sides)
  const measures = [...new Set(Object.values(sides).flatMap((measured) => Object.keys(measured)))]
  const panels = measures.flatMap((measure, column) => [
    `<g transform="translate(${column * PANEL.width} 40)">`,
    text(BAR.left, 28, measure, 'font-size="13"'),
    ...bars(names.map((name) => sides[name]?.[measure]?.cpu)),
    '</g>',
  ])
  const width = PANEL.width * measures.length
  const height = 40 + PANEL.height
  const legend = names.map((name, at) =>
    text(16 + at * 280, 24, `■ ${name}${at === 0 ? ', s of CPU' : ''}`, `fill="${COLOURS[at]}" font-size="13"`),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="white"/>
${[...legend, ...panels].join('\n')}
</svg>
`
}

/** A server without a figure for this workload has no bar. */
function bars(values: readonly (number | undefined)[]): string[] {
  const most = Math.max(...values.map((value) => value ?? 0))
  return values.flatMap((value, at) => {
    const y = BAR.top + at * (BAR.height + BAR.gap)
    if (value === undefined) return [text(BAR.left, y + 14, 'not measured', 'fill="#666"')]
    const width = (BAR.longest * value) / most
    return [
      `<rect x="${BAR.left}" y="${y}" width="${px(width)}" height="${BAR.height}" fill="${COLOURS[at]}"/>`,
      text(BAR.left + width + 6, y + 14, value.toFixed(1), `fill="${COLOURS[at]}"`),
    ]
  })
}
