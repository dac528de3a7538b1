// Attempts to get in, each with the answer that kube-apiserver gives. One server for all of them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregatedRoles } from './aggregated-roles.ts'
import { bodies } from './bodies.ts'
import { borrowedNames } from './borrowed-names.ts'
import { certificates } from './certificates.ts'
import { answersOfKubeApiserver, answersTo, framing } from './framing.ts'
import { grants } from './grants.ts'
import { impersonating } from './impersonating.ts'
import { legacyPrefixes } from './legacy-prefixes.ts'
import { lists } from './lists.ts'
import { movedTokens } from './moved-tokens.ts'
import { namespaceEscapes } from './namespace-escapes.ts'
import { nodeRules } from './node-rules.ts'
import { nodes } from './nodes.ts'
import { ownPaths } from './own-paths.ts'
import { plainUrls } from './plain-urls.ts'
import { answerOf } from './row.ts'
import type { Row } from './row.ts'
import { signers } from './signers.ts'
import { subresources } from './subresources.ts'
import { tokens } from './tokens.ts'
import { trustedPaths } from './trusted-paths.ts'
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

for (const [family, rows] of Object.entries(families))
  describe(family, () => {
    for (const row of rows)
      test(`${row.rule}: ${row.who} ${row.request.slice(0, 120)} → ${row.answer}`, async () => {
        const received = await world.run(row)
        const wanted = world.isKedge ? (row.own ?? row.answer) : row.answer
        expect(answerOf(received), received.text.slice(0, 400)).toBe(wanted)
        row.check?.(received)
      })
  })

describe('framing', () => {
  for (const { rule, bytes, answers } of framing)
    test(`${rule} → ${answers.join(', ')}`, async () => {
      const wanted = world.isKedge ? answers : (answersOfKubeApiserver.get(rule) ?? answers)
      expect(await answersTo(world.access.host, world.access.port, bytes)).toEqual(wanted)
    })
})
