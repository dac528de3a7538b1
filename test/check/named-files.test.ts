import { expect, test } from 'vitest'
import { missingFilesIn } from './named-files.ts'

test('a page names files that are there', () => {
  const page = 'See `src/server.ts`, `docs/gone.md`, `src/registry/GROUP/x.ts`, `src/codec/` and `server.ts`.'
  expect(missingFilesIn(page, (file) => file === 'src/server.ts')).toEqual(['docs/gone.md', 'src/registry/GROUP/x.ts'])
})
