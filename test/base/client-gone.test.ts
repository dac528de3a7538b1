import { expect, test } from 'vitest'
import { turnUnlessGone } from '../../src/base/client-gone.ts'
import { inPartsAwaiting, mapParts } from '../../src/base/parts.ts'

test('work in parts ends when its client has gone', async () => {
  const items = Array.from({ length: 100 }, (_, at) => at)
  let done = 0
  const walk = () => mapParts(items, () => void done++)
  const hasGone = () => done >= 20
  await expect(inPartsAwaiting(walk, turnUnlessGone(hasGone), 10)).rejects.toThrow('the client is gone')
  expect(done).toBeLessThan(40)
})
