import { describe, expect, it } from 'vitest'
import { FairPlaces } from '../../src/base/fair-places.ts'

/** Takes places, and notes who had to give one up. */
function hall(most: number, lostAfter?: number) {
  let now = 0
  const places = new FairPlaces(lostAfter, () => now)
  const ended: string[] = []
  const take = (group: string, user: string, size?: number) => {
    const place = places.take(group, user, most, size)
    if (place !== undefined) place.onEnd = () => ended.push(`${group}/${user}`)
    return place
  }
  return { take, ended, pass: (milliseconds: number) => void (now += milliseconds) }
}

const times = (count: number, work: () => unknown) => Array.from({ length: count }, work)

describe('places', () => {
  it('are all for one user, while nobody else wants any', () => {
    const { take, ended } = hall(4)
    expect(times(4, () => take('g', 'greedy')).every((place) => place !== undefined)).toBe(true)
    expect(take('g', 'greedy')).toBeUndefined()
    expect(ended).toEqual([])
  })

  it('go from the user who has the most to others, until they have as many', () => {
    const { take, ended } = hall(4)
    times(4, () => take('g', 'greedy'))
    expect(take('g', 'one')).toBeDefined()
    expect(take('g', 'two')).toBeDefined()
    expect(ended).toEqual(['g/greedy', 'g/greedy'])
    // two, one, one: nobody has more than a third user would get
    expect(take('g', 'one')).toBeUndefined()
    expect(take('g', 'greedy')).toBeUndefined()
    expect(take('g', 'three')).toBeDefined()
    expect(take('g', 'four')).toBeUndefined()
    expect(ended).toEqual(['g/greedy', 'g/greedy', 'g/greedy'])
  })

  it('of a group with many users do not outnumber those of another group', () => {
    const { take, ended } = hall(6)
    for (let n = 0; n < 6; n++) take('crowd', `${n}`)
    times(3, () => take('other', 'one'))
    expect(take('other', 'one')).toBeUndefined()
    expect(take('crowd', 'new')).toBeUndefined()
    expect(ended).toEqual(['crowd/0', 'crowd/1', 'crowd/2'])
  })

  it('count by their size', () => {
    const { take, ended } = hall(10)
    times(3, () => take('g', 'greedy', 3))
    expect(take('g', 'one', 4)).toBeDefined()
    expect(ended).toEqual(['g/greedy'])
    expect(take('g', 'one', 3)).toBeUndefined()
  })

  it('are free again when they are left, once', () => {
    const { take } = hall(2)
    const [first] = times(2, () => take('g', 'one')) as ReturnType<typeof take>[]
    first!.leave()
    first!.leave()
    expect(take('g', 'one')).toBeDefined()
    expect(take('g', 'one')).toBeUndefined()
  })

  it('are free again when their holder has not renewed them in time', () => {
    const { take, ended, pass } = hall(2, 100)
    const [, renewed] = times(2, () => take('g', 'one')) as ReturnType<typeof take>[]
    pass(60)
    renewed!.renew()
    pass(60)
    expect(take('g', 'one')).toBeDefined()
    expect(take('g', 'one')).toBeUndefined()
    expect(ended).toEqual([])
  })
})
