import { describe, expect, it } from 'vitest'
import { fallenAreas, lastLine } from '../conformance/fallen.ts'

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
