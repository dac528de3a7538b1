import { expect, it } from 'vitest'
import fc from '../../chance.ts'
import { unbroken } from '../../../src/storage/streams/unbroken-list.ts'

/** The text in chunks of these lengths; breaks after `breakAfter` of them. */
function streamOf(text: string, lengths: readonly number[], breakAfter = Infinity): ReadableStream<Uint8Array> {
  let [at, n] = [0, 0]
  return new ReadableStream({
    pull(controller) {
      if (n === breakAfter) return controller.error(new Error('broken'))
      if (at >= text.length) return controller.close()
      const end = at + (lengths[n++ % lengths.length] ?? 1)
      controller.enqueue(new TextEncoder().encode(text.slice(at, end)))
      at = end
    },
  })
}

it('is the same bytes wherever it breaks, and however it is cut into chunks', async () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[a-z]{0,60}$/),
      fc.array(fc.tuple(lengths, fc.nat(8)), { maxLength: 4 }),
      lengths,
      async (text, broken, last) => {
        const streams = [...broken.map(([cut, after]) => streamOf(text, cut, after)), streamOf(text, last)]
        const next = () => streams.shift()!
        expect(await new Response(unbroken(next(), async () => next())).text()).toBe(text)
      },
    ),
  )
})

it('gives up when nothing comes any more', async () => {
  let opened = 0
  const broken = () => streamOf('abc', [1], ++opened === 1 ? 2 : 0)
  const values = unbroken(broken(), async () => broken())
  await expect(new Response(values).text()).rejects.toMatchObject({ code: 'Unavailable' })
  expect(opened).toBe(6)
})
