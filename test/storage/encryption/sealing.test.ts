import { platformClock } from '../../../src/base/clock.ts'
import { describe, expect, test } from 'vitest'
import { encrypted } from '../../../src/storage/encryption/encrypted.ts'
import { memoryStorage } from '../../../src/storage/memory.ts'
import type { EncryptionKey } from '../../../src/storage/encryption/encryption-setting.ts'
import { SEALED, Sealer } from '../../../src/storage/encryption/sealing.ts'
import type { Collection, NewValue } from '../../../src/storage/storage.ts'
import { everything } from '../../../src/storage/selectors/selection.ts'
import { withRevision } from '../../../src/storage/streams/value-text.ts'
import { valueOf } from '../../storage-suite.ts'

const secrets: Collection = { tenant: 'root', shard: 'secrets', prefix: 'secrets' }
const key = (id: string, fill: number): EncryptionKey => ({ id, secret: new Uint8Array(32).fill(fill) })
const first = key('first', 1)
const second = key('second', 2)
const sealer = (keys: readonly EncryptionKey[], sealing: EncryptionKey | undefined = keys[0]) =>
  new Sealer({ sealing, keys, prefixes: new Set(['secrets']) })

/** As the shard stores it, at revision 7. */
const stored = ({ text, at }: NewValue): string => withRevision(text, at, 7)
const value = valueOf('a', 'é "quoted" s3cr3t')

describe('a sealed value', () => {
  test('opens to the text that was sealed, with its revision', async () => {
    const sealed = await sealer([first]).seal(secrets, 'ns/a', value)
    expect(sealed.text.startsWith(SEALED)).toBe(true)
    expect(sealed.text).not.toContain('s3cr3t')
    expect(await sealer([first]).open(secrets, stored(sealed), 'ns/a')).toBe(stored(value))
  })

  test('is another one each time', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => sealer([first]).seal(secrets, 'ns/a', value)))
    expect(one!.text).not.toBe(other!.text)
  })

  test('opens with any key that the server has, and is sealed with the first', async () => {
    const sealed = stored(await sealer([first]).seal(secrets, 'ns/a', value))
    expect(await sealer([second, first]).open(secrets, sealed)).toBe(stored(value))
    expect(stored(await sealer([second, first]).seal(secrets, 'ns/a', value))).toContain(`${SEALED}second"`)
  })

  const at = async (change: (text: string) => string) =>
    change(stored(await sealer([first]).seal(secrets, 'ns/a', value)))
  const refused: readonly [name: string, open: () => Promise<string>, why: RegExp][] = [
    [
      'without its key',
      async () => sealer([second]).open(secrets, await at((text) => text)),
      /secrets\/ns\/a: the server has no encryption key "first"/,
    ],
    [
      'with another key of that name',
      async () => sealer([key('first', 9)]).open(secrets, await at((text) => text)),
      /encryption key "first" does not open it/,
    ],
    [
      'as the value of another object',
      async () => sealer([first]).open(secrets, await at((text) => text), 'ns/b'),
      /secrets\/ns\/b: it is that of ns\/a/,
    ],
    [
      'with the key of another object written over its own',
      async () =>
        sealer([first]).open(secrets, await at((text) => text.replace('"key":"ns/a"', '"key":"ns/b"')), 'ns/b'),
      /does not open it/,
    ],
    [
      'in another control plane',
      async () => sealer([first]).open({ ...secrets, tenant: 'other' }, await at((text) => text)),
      /does not open it/,
    ],
    [
      'as another resource',
      async () => sealer([first]).open({ ...secrets, prefix: 'configmaps' }, await at((text) => text)),
      /does not open it/,
    ],
    ['cut off', async () => sealer([first]).open(secrets, await at((text) => text.slice(0, -9))), /damaged/],
    [
      'with a letter changed',
      async () =>
        sealer([first]).open(
          secrets,
          await at((text) =>
            text.replace(
              /"data":"(.{40})(.)/,
              (_, head: string, letter: string) => `"data":"${head}${letter === 'A' ? 'B' : 'A'}`,
            ),
          ),
        ),
      /does not open it/,
    ],
  ]
  test.each(refused)('does not open %s', async (_, open, why) => {
    await expect(open()).rejects.toMatchObject({ code: 'Sealed', message: expect.stringMatching(why) as string })
  })
})

describe('the sealed parts', () => {
  test('is what the setting names; without a sealing key nothing, and old values still open', async () => {
    const others: Collection = { ...secrets, shard: 'configmaps', prefix: 'configmaps' }
    expect(await sealer([first]).seal(others, 'ns/a', value)).toBe(value)
    const identity = new Sealer({ sealing: undefined, keys: [first], prefixes: new Set(['secrets']) })
    expect(await identity.seal(secrets, 'ns/a', value)).toBe(value)
    const old = stored(await sealer([first]).seal(secrets, 'ns/a', value))
    expect(await identity.open(secrets, old)).toBe(stored(value))
    expect(await identity.open(secrets, stored(value))).toBe(stored(value))
  })

  test('one value that does not open fails the list before it is answered', async () => {
    const inner = memoryStorage(platformClock)
    await encrypted(inner, sealer([first])).create(secrets, 'ns/a', value)
    const list = encrypted(inner, sealer([second])).list(secrets, {
      selection: everything,
      at: { kind: 'latest' },
    })
    await expect(list).rejects.toMatchObject({ code: 'Sealed' })
  })
})
