// Walks in parts: a walk gives the same result wherever it is interrupted.
import { describe, expect, test } from 'vitest'
import {
  eachName,
  eachPart,
  everyName,
  everyPart,
  flatMapParts,
  forAsLong,
  inParts,
  inPartsAwaiting,
  kept,
  mapNames,
  mapParts,
  resuming,
  somePart,
} from '../../src/base/parts.ts'
import { lost } from '../../src/base/walk-progress.ts'
import { atOnce, inTurns } from '../../src/base/slices.ts'

/** The result of a walk with `part` items a part, and how many turns other work had meanwhile. */
async function parts<T>(run: () => T, part: number): Promise<{ result: T; turns: number }> {
  let turns = 0
  const result = await inTurns(inParts(run, part), async () => void turns++)
  return { result, turns }
}

const numbers = (n: number) => Array.from({ length: n }, (_, at) => at)

describe.each([1, 2, 3, 7, 1000])('with %i items a part', (part) => {
  const both = async <T>(run: () => T): Promise<T> => {
    const whole = atOnce(inParts(run))
    expect((await parts(run, part)).result).toEqual(whole)
    return whole
  }

  test('a list behind one that each run makes anew, and that is longer than a part', async () => {
    const list = numbers(50)
    const walk = () => [...mapParts(numbers(20), (one) => one), ...mapParts(list, (one) => one)]
    expect(await both(walk)).toHaveLength(70)
  })

  test('a list in a list', async () => {
    const table = numbers(5).map((row) => numbers(4).map((column) => row * column))
    const walked = await both(() => mapParts(table, (row) => mapParts(row, (one) => one + 1)))
    expect(walked[4]).toEqual([1, 5, 9, 13])
  })

  test('members by name, of objects in a list', async () => {
    const objects = numbers(4).map((at) => ({ b: at, a: [at, at], c: {} }))
    const sorted = (object: object) => Object.keys(object).sort()
    await both(() => mapParts(objects, (object) => mapNames(object, sorted, (name) => `${name}${object.b}`)))
  })

  test('the same list once more, and the same in each item', async () => {
    const shared = numbers(3)
    const walked = await both(() => {
      const before = mapParts(shared, (one) => one * 2)
      const within = mapParts([1, 2, 3], (factor) => mapParts(shared, (one) => one * factor))
      return [before, within, mapParts(shared, (one) => one * 3)]
    })
    expect(walked).toEqual([
      [0, 2, 4],
      [
        [0, 1, 2],
        [0, 2, 4],
        [0, 3, 6],
      ],
      [0, 3, 6],
    ])
  })

  test('values that are filled beside a loop are kept', async () => {
    const list = numbers(9)
    await both(() => {
      const seen = kept(list, () => new Set<number>())
      const odd = flatMapParts(list, (one) => {
        seen.add(one)
        return one % 2 === 1 ? [one, one] : []
      })
      return { odd, seen: [...seen] }
    })
  })

  test('a loop that ends early', async () => {
    const list = numbers(9)
    const until = await both(() => {
      const seen = kept(list, (): number[] => [])
      eachPart(list, (one) => {
        seen.push(one)
        return one < 4
      })
      return seen
    })
    expect(until).toEqual([0, 1, 2, 3, 4])
  })

  test('a step after the other', async () => {
    const counter = { list: numbers(6) }
    await both(() => {
      const state = kept(counter, () => ({ at: 0, sum: 0 }))
      forAsLong(() => {
        state.sum += counter.list[state.at]!
        return ++state.at < counter.list.length
      })
      return state.sum
    })
  })

  test('a walk that is stopped where an error would be told', async () => {
    const list = numbers(9)
    const careless = () => {
      try {
        return mapParts(list, (one) => one)
      } catch {
        return undefined
      }
    }
    expect(await both(careless)).toEqual(list)
  })

  test("a walk's own error", async () => {
    const list = numbers(9)
    const failing = () => mapParts(list, (one) => (one === 8 ? expect.unreachable('eight') : one))
    await expect(parts(failing, part)).rejects.toThrow('eight')
  })

  test('a list that each run makes anew is walked at once', async () => {
    await both(() => mapParts(numbers(50), (one) => one))
    const outer = numbers(4)
    await both(() => mapParts(outer, () => mapParts(numbers(50), (one) => one)))
  })
})

describe('a list that each run makes anew', () => {
  test('is told of once it has stopped a walk', async () => {
    const told: number[] = []
    lost.tell = (_, items) => void told.push(items)
    await parts(() => mapParts(numbers(50), (one) => one), 7)
    await parts(() => mapParts(numbers(4), () => mapParts(numbers(50), (one) => one)), 7)
    expect(told).toEqual([50, 50])
    const outer = numbers(3)
    await parts(() => mapParts(outer, () => mapParts(numbers(50), (one) => one)), 7)
    await parts(() => kept(outer, () => mapParts(numbers(50), (one) => one)), 7)
    expect(told.slice(2)).toEqual([50, 50, 50, 50])
    lost.tell = undefined
  })

  test('keeps nobody waiting for more than the item that it belongs to', async () => {
    const outer = numbers(10)
    let most = 0
    let run = 0
    await inTurns(
      inParts(() => {
        eachPart(outer, () => eachPart(numbers(50), () => void (most = Math.max(most, ++run))))
        const list = kept(outer, () => numbers(500))
        eachPart(list, () => void (most = Math.max(most, ++run)))
      }, 20),
      async () => void (run = 0),
    )
    expect(most).toBeLessThan(80)
  })
})

test('an item in which the stop was caught is not done', async () => {
  const table = numbers(3).map((row) => numbers(5).map((column) => [row * 5 + column]))
  const careless = (row: number[][]): number[] => {
    try {
      return mapParts(row, ([one]) => one!)
    } catch {
      return []
    }
  }
  for (const part of [1, 2, 7]) {
    const { result } = await parts(() => [...mapParts(table, careless), kept(table, () => careless(table[0]!))], part)
    expect(result.flat()).toEqual([...numbers(15), ...numbers(5)])
  }
})

test('all of them, and some of them', async () => {
  const list = numbers(20)
  const named = Object.fromEntries(list.map((one) => [`k${one}`, one]))
  for (const part of [1, 3, 100]) {
    const found = await parts(
      () => [
        everyPart(list, (one) => one < 20),
        everyPart(list, (one) => one < 10),
        somePart(list, (one) => one === 15),
        somePart([], () => true),
        everyName(named, (name) => named[name]! < 20),
        everyName(named, (name) => named[name]! < 10),
      ],
      part,
    )
    expect(found.result).toEqual([true, false, true, false, true, false])
  }
})

test('each item is looked at once, and others have a turn after each part', async () => {
  const list = numbers(100)
  let looked = 0
  const { turns } = await parts(() => eachPart(list, () => void looked++), 10)
  expect(looked).toBe(100)
  // the loop itself counts as one item
  expect(turns).toBe(11)
})

test('loops over many short lists count, too', async () => {
  const lists = Array.from({ length: 100 }, () => [1])
  const { turns } = await parts(() => eachPart(lists, (list) => eachPart(list, () => {})), 10)
  expect(turns).toBeGreaterThan(25)
})

test('a dear item counts for several', async () => {
  const list = numbers(100)
  const { turns } = await parts(() => eachPart(list, () => {}, 5), 10)
  expect(turns).toBe(50)
})

test('at once nothing is stopped, in a walk in parts neither', async () => {
  const list = numbers(100)
  let inner = 0
  const walk = () => eachPart(list, () => void inner++)
  const { turns } = await parts(() => atOnce(inParts(walk)), 10)
  expect({ turns, inner }).toEqual({ turns: 1, inner: 100 })
})

describe('a walk that waits in between', () => {
  test('is stopped before and behind it', async () => {
    const [first, second] = [numbers(30), numbers(30)]
    let turns = 0
    const seen: number[] = []
    const walk = async () => {
      const resume = resuming()
      eachPart(first, (one) => void seen.push(one))
      await Promise.resolve()
      return resume(() => mapParts(second, (one) => one + 1))
    }
    const result = await inPartsAwaiting(walk, async () => void turns++, 10)
    expect(result).toEqual(numbers(30).map((one) => one + 1))
    expect(seen).toEqual(first)
    expect(turns).toBe(7)
  })

  test('lets nobody else be stopped while it waits', async () => {
    const list = numbers(30)
    let go = () => {}
    const waiting = new Promise<void>((resolve) => (go = resolve))
    const walk = inPartsAwaiting(
      () => waiting,
      async () => {},
      1,
    )
    await Promise.resolve()
    expect(mapNames({ a: 1, b: 2 }, Object.keys, (name) => name)).toEqual(['a', 'b'])
    expect(() => eachPart(list, () => {})).not.toThrow()
    expect(() => eachName({ a: 1, b: 2 }, Object.keys, () => {})).not.toThrow()
    go()
    await walk
  })
})

test('what is made in parts of the very object that it is kept for leaves nothing behind for what follows', async () => {
  const owner = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, at]))
  const walk = () => {
    const copy = kept(owner, () => {
      const made = kept(owner, (): Record<string, number> => ({}))
      eachName(owner, Object.keys, (name) => void (made[name] = 1))
      return made
    })
    const other = kept(owner, () => 'another')
    const names = mapNames(owner, Object.keys, (name) => name)
    return { copied: Object.keys(copy).length, other, names: names.length }
  }
  for (const part of [1, 3, 7])
    expect(await inTurns(inParts(walk, part), async () => {})).toEqual({ copied: 20, other: 'another', names: 20 })
})

test('code that catches the stop does nothing more in that part', async () => {
  const first = numbers(50)
  const second = numbers(50)
  const seen = { all: 0, run: 0, most: 0 }
  const item = (): void => {
    seen.all++
    seen.most = Math.max(seen.most, ++seen.run)
  }
  const orNone = (run: () => number[]): number[] => {
    try {
      return run()
    } catch {
      return []
    }
  }
  const { result } = await parts(() => {
    seen.run = 0
    const found = orNone(() => mapParts(first, (one) => (item(), one)))
    if (found.length === 0) kept(second, () => numbers(10).forEach(item))
    return [...found, ...orNone(() => mapParts(second, (one) => (item(), one)))]
  }, 7)
  expect(result).toEqual([...first, ...second])
  expect(seen).toMatchObject({ all: 100, most: 7 })
})
