import fc from '../chance.ts'
import { describe, expect, test } from 'vitest'
import { builtInStorages, CONTROL_SHARD, collectionOf, isControlResource } from '../../src/storage/collections.ts'
import { placeOf } from '../../src/storage/places.ts'
import { lastRevisionAt, nextRevision, PLACES, revisionAt, timeOf } from '../../src/storage/revision.ts'

const NOW = Date.parse('2026-11-23T05:00:00Z')

const place = fc.integer({ min: 1, max: PLACES - 1 })
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
        expect(next - Math.max(last, revisionAt(now))).toBeLessThanOrEqual(PLACES)
        expect(Number.isSafeInteger(next)).toBe(true)
      }),
    )
  })

  test('is never that of a shard with another place, whatever their clocks say', () => {
    const shard = fc.record({ place, last: fc.nat(PLACES * 50), clocks: fc.array(clock, { maxLength: 60 }) })
    fc.assert(
      fc.property(shard, shard, (one, other) => {
        fc.pre(one.place !== other.place)
        const given = ({ place, last, clocks }: typeof one) => {
          let at = revisionAt(NOW) + last
          return clocks.map((now) => (at = nextRevision(at, now, place)))
        }
        expect(new Set(given(one)).isDisjointFrom(new Set(given(other)))).toBe(true)
      }),
    )
  })

  test.each([1, 77, PLACES - 1])('is within its millisecond for sixteen writes at place %i', (place) => {
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
    expect(Number.isSafeInteger(nextRevision(0, now, PLACES - 1))).toBe(true)
  })
})

describe('places', () => {
  const shards = new Set([CONTROL_SHARD, ...builtInStorages().map((one) => collectionOf({ uid: 't' }, one).shard)])
  const places = new Set([...shards].map(placeOf))

  test('are different for all shards of built-in types', () => {
    expect(builtInStorages().filter((one) => !isControlResource(one)).length).toBe(shards.size - 1)
    expect(places.size).toBe(shards.size)
  })

  test('of definitions are none of these, and spread over the others', () => {
    const custom = Array.from({ length: 500 }, (_, index) => placeOf(`things${index}.example.com`))
    for (const place of custom) {
      expect(places.has(place)).toBe(false)
      expect(place).toBeLessThan(PLACES)
      expect(place).toBeGreaterThan(0)
    }
    expect(new Set(custom).size).toBeGreaterThan((PLACES - places.size) * 0.9)
  })
})
