import fc from '../../chance.ts'
import { describe, expect, test } from 'vitest'
import { builtInStorages, CONTROL_SHARD, collectionOf, isControlResource } from '../../../src/storage/collections.ts'
import {
  builtInPlace,
  CUSTOM_PLACES,
  customPlace,
  FIRST_CUSTOM,
  WIDE_PLACES,
} from '../../../src/storage/revisions/places.ts'
import type { Place } from '../../../src/storage/revisions/revision.ts'
import {
  lastRevisionAt,
  nextRevision,
  PLACES,
  revisionAt,
  TICKS,
  timeOf,
} from '../../../src/storage/revisions/revision.ts'

const NOW = Date.parse('2026-11-23T05:00:00Z')

const builtIn = fc.integer({ min: 1, max: FIRST_CUSTOM - 1 }).map((first) => ({ first, every: PLACES }))
const place = fc.oneof(builtIn, fc.nat(CUSTOM_PLACES - 1).map(customPlace))
const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other)
const clock = fc.integer({ min: NOW, max: NOW + 5 })

describe('the next revision', () => {
  test('is above the last one, whatever the clock says, and not behind the clock', () => {
    fc.assert(
      // any number may be the last one: earlier releases gave others, and readers raise it
      fc.property(fc.maxSafeInteger(), clock, place, (any, now, place) => {
        const last = Math.abs(any) % 2 ** 52
        const next = nextRevision(last, now, place)
        expect(next).toBeGreaterThan(last)
        expect(next).toBeGreaterThanOrEqual(revisionAt(now))
        expect(next - Math.max(last, revisionAt(now))).toBeLessThanOrEqual(place.every)
        expect(Number.isSafeInteger(next)).toBe(true)
      }),
    )
  })

  test('is never that of a shard with another place, whatever their clocks say', () => {
    const shard = fc.record({ place, last: fc.nat(PLACES * 50), clocks: fc.array(clock, { maxLength: 60 }) })
    fc.assert(
      fc.property(shard, shard, (one, other) => {
        fc.pre(!isSame(one.place, other.place))
        const given = ({ place, last, clocks }: typeof one) => {
          let at = revisionAt(NOW) + last
          return clocks.map((now) => (at = nextRevision(at, now, place)))
        }
        expect(new Set(given(one)).isDisjointFrom(new Set(given(other)))).toBe(true)
      }),
    )
  })

  test.each([1, 37, FIRST_CUSTOM - 1])('is within its millisecond for sixteen writes at place %i', (first) => {
    const place = { first, every: PLACES }
    const given: number[] = []
    for (let last = revisionAt(NOW - 1); given.length < 17; given.push(last)) last = nextRevision(last, NOW, place)
    expect(given.map(timeOf)).toEqual([...Array<number>(16).fill(NOW), NOW + 1])
    expect(given[15]).toBeLessThanOrEqual(lastRevisionAt(NOW))
  })

  test('is never the first of its millisecond: what is read at that one is all that was written before it', () => {
    fc.assert(fc.property(clock, place, (now, place) => nextRevision(0, now, place) > revisionAt(now)))
  })

  test('is exact until the year 2163', () => {
    const now = Date.parse('2162-12-31T23:59:59Z')
    expect(Number.isSafeInteger(nextRevision(0, now, { first: TICKS - 1, every: TICKS }))).toBe(true)
  })
})

describe('places', () => {
  const shards = new Set([CONTROL_SHARD, ...builtInStorages().map((one) => collectionOf({ uid: 't' }, one).shard)])
  const places = [...shards].map((shard) => builtInPlace(shard)!)

  test('are different for all shards of built-in types, and none of them is for definitions', () => {
    expect(builtInStorages().filter((one) => !isControlResource(one)).length).toBe(shards.size - 1)
    expect(new Set(places.map(({ first }) => first)).size).toBe(shards.size)
    for (const { first, every } of places) expect([first > 0 && first < FIRST_CUSTOM, every]).toEqual([true, PLACES])
  })

  test('of definitions have no number in common with each other or with built-in types', () => {
    const numbersOf = ({ first, every }: Place) =>
      Array.from({ length: TICKS / every }, (_, index) => first + index * every)
    const custom = Array.from({ length: CUSTOM_PLACES }, (_, index) => numbersOf(customPlace(index)))
    const all = custom.flat()
    expect(new Set(all).size).toBe(all.length)
    for (const number of all) {
      expect(number % PLACES).toBeGreaterThanOrEqual(FIRST_CUSTOM)
      expect(number).toBeLessThan(TICKS)
    }
    const wide = Array.from({ length: WIDE_PLACES }, () => TICKS / PLACES)
    expect(custom.map(({ length }) => length)).toEqual([...wide, ...Array<number>(CUSTOM_PLACES - WIDE_PLACES).fill(1)])
  })
})
