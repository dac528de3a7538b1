import { describe, expect, it } from 'vitest'
import { circleProblems, importsIn, layerProblems } from './layers.ts'
import type { Import } from './layers.ts'

const edge = (from: string, to: string, isType = false): Import => ({ from, to, isType })

describe('imports of a file', () => {
  it('are found with what they are for', () => {
    const source = [
      "import * as z from 'zod/mini'",
      "import type { A } from './a.ts'",
      'import {',
      '  one,',
      '  two,',
      "} from '../codec/b.ts'",
      "export { c } from './c.ts'",
      "import './d.ts'",
    ].join('\n')
    expect(importsIn('src/registry/x.ts', source)).toEqual([
      edge('src/registry/x.ts', 'src/registry/a.ts', true),
      edge('src/registry/x.ts', 'src/codec/b.ts'),
      edge('src/registry/x.ts', 'src/registry/c.ts'),
      edge('src/registry/x.ts', 'src/registry/d.ts'),
    ])
  })
})

describe('an import', () => {
  const up = edge('src/codec/a.ts', 'src/registry/b.ts', true)
  it('may point down, and to its own layer', () => {
    expect(layerProblems([edge('src/server.ts', 'src/endpoints/b.ts'), edge('src/api/a.ts', 'src/go/b.ts')])).toEqual(
      [],
    )
  })
  it('may not point up, not even for a type', () => {
    expect(layerProblems([up])).toEqual(['src/codec/a.ts -> src/registry/b.ts: codec is below registry'])
  })
  it('cannot be of a folder that has no layer', () => {
    expect(() => layerProblems([edge('src/attic/a.ts', 'src/api/b.ts')])).toThrow('attic is in no layer')
  })
})

describe('a circle', () => {
  const circle = (...files: string[]) => files.map((file, at) => edge(file, files[(at + 1) % files.length]!))
  it('of a few files in one folder is let pass', () => {
    expect(circleProblems(circle('src/codec/a.ts', 'src/codec/b.ts'))).toEqual([])
  })
  it('across folders is not', () => {
    expect(circleProblems(circle('src/codec/a.ts', 'src/codec/table/b.ts'))).toHaveLength(1)
  })
  it('of six files is not', () => {
    expect(circleProblems(circle(...'abcdef'.split('').map((name) => `src/codec/${name}.ts`)))).toHaveLength(1)
  })
  it('of types alone is none', () => {
    const [there, back] = circle('src/codec/a.ts', 'src/patch/b.ts')
    expect(circleProblems([there!, { ...back!, isType: true }])).toEqual([])
  })
})
