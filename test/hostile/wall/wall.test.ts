// Attempts to get in, each with the answer that kube-apiserver gives. All of them go to one server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregatedRoles } from './aggregated-roles.ts'
import { bodies } from './bodies.ts'
import { borrowedNames } from './borrowed-names.ts'
import { certificates } from './certificates.ts'
import { answersOfKubeApiserver, answersTo, framing } from './framing.ts'
import { grants } from './grants.ts'
import { heads } from './heads.ts'
import { impersonating } from './impersonating.ts'
import { legacyPrefixes } from './legacy-prefixes.ts'
import { lists } from './lists.ts'
import { askedFor, isMadeUp, metricLines, sentByAnybody } from './metric-labels.ts'
import { movedTokens } from './moved-tokens.ts'
import { namespaceEscapes } from './namespace-escapes.ts'
import { nodeRules } from './node-rules.ts'
import { nodes } from './nodes.ts'
import { ownPaths } from './own-paths.ts'
import { plainUrls } from './plain-urls.ts'
import type { Row } from './row.ts'
import { recreated } from './recreated.ts'
import { runRows } from './run-rows.ts'
import { selectedFields } from './selected-fields.ts'
import { selectedNames } from './selected-names.ts'
import { selected } from './selected.ts'
import { selectors } from './selectors.ts'
import { signers } from './signers.ts'
import { subresources } from './subresources.ts'
import { tokens } from './tokens.ts'
import { trustedPaths } from './trusted-paths.ts'
import { unpacking } from './unpacking.ts'
import { untrueBodies } from './untrue-bodies.ts'
import { webSockets } from './web-sockets.ts'
import { World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await World.start()
  await world.prepare()
})
afterAll(() => world?.stop())

const families: Readonly<Record<string, readonly Row[]>> = {
  subresources,
  heads,
  selectors,
  'what selectors select': selected,
  'rights to what is selected': selectedNames,
  'selected fields': selectedFields,
  unpacking,
  'bodies that are not true': untrueBodies,
  recreated,
  nodes,
  'rules of nodes': nodeRules,
  certificates,
  'signers of certificates': signers,
  impersonating,
  'aggregated roles': aggregatedRoles,
  'continue tokens': movedTokens,
  'trusted paths': trustedPaths,
  'web sockets': webSockets,
  'paths of its own': ownPaths,
  'plain URLs': plainUrls,
  lists,
  bodies,
  tokens,
  'borrowed names': borrowedNames,
  grants,
  'legacy prefixes': legacyPrefixes,
  'namespace escapes': namespaceEscapes,
}

for (const [family, rows] of Object.entries(families)) runRows(family, rows, () => world)

describe('framing', () => {
  for (const { rule, bytes, answers } of framing)
    test(`${rule} → ${answers.join(', ')}`, async () => {
      const wanted = world.isKedge ? answers : (answersOfKubeApiserver.get(rule) ?? answers)
      expect(await answersTo(world.access.host, world.access.port, bytes)).toEqual(wanted)
    })
})

describe('metric labels', () => {
  const ask = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++)
      await Promise.all(
        askedFor(n).map(([who, method, path, headers, body]) => world.send(who, method, path, body, headers)),
      )
  }
  test('no name that a client makes up is one', async () => {
    await ask(0, 2)
    expect((await metricLines(world)).filter(isMadeUp)).toEqual([])
  })

  test('and the next hundred add no series', async () => {
    await ask(2, 12)
    const before = await metricLines(world)
    await ask(12, 22)
    const series = new Set(before.map((line) => line.slice(0, line.lastIndexOf(' '))))
    const added = (await metricLines(world)).filter((line) => !series.has(line.slice(0, line.lastIndexOf(' '))))
    // a slow request on a busy machine fills a histogram bucket that was empty
    expect(added.filter(isMadeUp)).toEqual([])
    expect(added.length).toBeLessThan(60)
  })

  test('a thousand more, of anybody, leave it as long as it was', async () => {
    const send = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++)
        await Promise.all(
          sentByAnybody(n).map(([who, method, path, headers, body]) => world.send(who, method, path, body, headers)),
        )
    }
    await send(0, 5)
    const before = await metricLines(world)
    await send(5, 175)
    const after = await metricLines(world)
    expect(after.filter(isMadeUp)).toEqual([])
    expect(after.length - before.length).toBeLessThan(60)
    expect(Math.max(...after.map(({ length }) => length))).toBeLessThan(1_000)
  })
})
