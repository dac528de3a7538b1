import { describe, expect, it } from 'vitest'
import { excerpts, fallenAreas, lastLine } from '../conformance/fallen.ts'

const baseline = { apply: 10, watch: 5, kubectl: 3 }
const all = () => true
const none: ReadonlySet<string> = new Set()

describe('areas that fell below the baseline', () => {
  it('are those with less than it says', () => {
    const rows = { apply: { exact: 9 }, watch: { exact: 5 }, kubectl: { exact: 4 } }
    expect(fallenAreas(baseline, rows, all, none)).toEqual(['apply'])
  })
  it('are those that did not run', () => {
    expect(fallenAreas(baseline, { apply: { exact: 10 }, kubectl: { exact: 3 } }, all, none)).toEqual(['watch'])
  })
  it('are none that nobody asked for', () => {
    expect(fallenAreas(baseline, { apply: { exact: 10 } }, (area) => area === 'apply', none)).toEqual([])
  })
  it('are none whose toolchain is missing', () => {
    const rows = { apply: { exact: 10 }, watch: { exact: 5 } }
    expect(fallenAreas(baseline, rows, all, new Set(['kubectl']))).toEqual([])
  })
})

it('the last line says what was skipped, and why', () => {
  expect(lastLine(2, 1, new Map())).toBe('2 passed, 1 failed')
  expect(lastLine(2, 0, new Map([['kubectl', 'there is none']]))).toBe(
    '2 passed, 0 failed, 1 skipped (kubectl: there is none)',
  )
})

describe('what a run prints of an area below its baseline', () => {
  it('has short texts whole', () => expect(excerpts(['## a\nwant 1\ngot 2'])).toEqual(['## a\nwant 1\ngot 2']))
  it('has the start of long lines and of long texts', () => {
    const [shown = ''] = excerpts([['x'.repeat(9_999), ...Array<string>(99).fill('y')].join('\n')])
    expect(shown.split('\n')).toEqual(['x'.repeat(240), ...Array<string>(11).fill('y'), '…'])
  })
  it('says how many it leaves out', () => expect(excerpts(Array<string>(42).fill('z')).at(-1)).toBe('and 2 more'))
})
