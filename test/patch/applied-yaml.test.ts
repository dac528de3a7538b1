// An applied configuration is YAML, although most are written in JSON.
import { expect, test } from 'vitest'
import { atOnce } from '../../src/base/slices.ts'
import { appliedYaml } from '../../src/patch/applied-yaml.ts'

test.each([
  ['1e18', '1000000000000000000'],
  ['-1E3', '-1000'],
  ['1e400', '"1e400"'],
  ['9007199254740993', '9007199254740993'],
])('a number %s', async (text, read) => {
  for (const body of [`{"a":[{"b":${text}}]}`, `a:\n- b: ${text}\n`]) {
    const applied = await appliedYaml(new TextEncoder().encode(body), atOnce)
    expect(JSON.stringify(atOnce(applied()).tree)).toBe(`{"a":[{"b":${read}}]}`)
  }
})
