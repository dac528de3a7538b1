// Attempts to get in, each with the answer that kube-apiserver gives. One server for all of them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodies } from './bodies.ts'
import { borrowedNames } from './borrowed-names.ts'
import { certificates } from './certificates.ts'
import { answersTo, framing } from './framing.ts'
import { grants } from './grants.ts'
import { legacyPrefixes } from './legacy-prefixes.ts'
import { lists } from './lists.ts'
import { namespaceEscapes } from './namespace-escapes.ts'
import { nodes } from './nodes.ts'
import { ownPaths } from './own-paths.ts'
import { plainUrls } from './plain-urls.ts'
import { answerOf } from './row.ts'
import type { Row } from './row.ts'
import { subresources } from './subresources.ts'
import { tokens } from './tokens.ts'
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
  certificates,
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
        expect(answerOf(received), received.text.slice(0, 400)).toBe(row.answer)
        row.check?.(received)
      })
  })

describe('framing', () => {
  for (const { rule, bytes, answers } of framing)
    test(`${rule} → ${answers.join(', ')}`, async () => {
      expect(await answersTo(world.access.host, world.access.port, bytes)).toEqual(answers)
    })
})
