// What the types of Workers have and the engine has not: a comparison with it is never true.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const ABSENT = /\.bufferedAmount\b/

test.each(['src', 'durable-objects'])('%s uses none of it', (folder) => {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  expect(files.length).toBeGreaterThan(30)
  expect(files.filter((name) => ABSENT.test(readFileSync(join(ROOT, folder, name), 'utf8')))).toEqual([])
})
