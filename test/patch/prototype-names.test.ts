import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/api/object.ts'
import { parseJson } from '../../src/json/parse-json.ts'
import { treeText } from '../../src/patch/json-document.ts'
import { readJsonPatch } from '../../src/patch/json-patch.ts'
import { applyJsonPatch } from '../../src/patch/json-patch-operations.ts'
import { applyMergePatch } from '../../src/patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../../src/patch/strategic-merge-patch.ts'
import type { PatchMap } from '../../src/patch/strategic-form.ts'
import { typeOfKind } from '../../src/schema/built-in.ts'
import { prototypeNames } from '../prototype-names.ts'
import { Story, configMaps } from './story.ts'

const dataOf = (entries: readonly (readonly [string, string])[]): JsonObject => ({ data: Object.fromEntries(entries) })

describe.each(prototypeNames)('the data key %s', (name) => {
  const key = JSON.stringify(name)
  const live = () => parseJson('{"data":{"a":"1"}}')
  const configMap = typeOfKind({ group: '', version: 'v1', kind: 'ConfigMap' })!

  test('is applied and owned', () => {
    const story = new Story(configMaps).apply('ci', dataOf([[name, '1']]))
    expect(story.content).toEqual(dataOf([[name, '1']]))
    expect(story.owners).toEqual({ 'Apply ci': { 'f:data': { [`f:${name}`]: {} } } })
  })

  test('goes when its applier stops mentioning it', () => {
    const story = new Story(configMaps)
      .apply(
        'ci',
        dataOf([
          ['a', '1'],
          [name, '1'],
        ]),
      ) // prettier-ignore
      .apply('ci', dataOf([['a', '1']]))
    expect(JSON.stringify(story.content)).toBe('{"data":{"a":"1"}}')
    expect(story.owners).toEqual({ 'Apply ci': { 'f:data': { 'f:a': {} } } })
  })

  test('conflicts with another applier', () => {
    const story = new Story(configMaps).apply('ci', dataOf([[name, '1']]))
    expect(() => story.apply('other', dataOf([[name, '2']]))).toThrow(`conflict with "ci": .data.${name}`)
  })

  test('is tracked when it is written', () => {
    const story = new Story(configMaps).write('u', dataOf([[name, '1']])).write('v', dataOf([[name, '2']]))
    expect(story.owners).toMatchObject({ 'Update v': { 'f:data': { [`f:${name}`]: {} } } })
  })

  test('is merged and removed', () => {
    const { document } = applyMergePatch(live(), parseJson(`{"data":{${key}:"1"}}`), true)
    expect(treeText(document)).toBe(treeText(parseJson(sorted(`"a":"1"`, `${key}:"1"`))))
    const removed = applyMergePatch(document, parseJson(`{"data":{${key}:null}}`), true)
    expect(treeText(removed.document)).toBe('{"data":{"a":"1"}}')
  })

  test('is merged strategically and removed', () => {
    const strategic = (patch: string, original = live()) =>
      applyStrategicMergePatch(configMap, original as PatchMap, parseJson(patch) as PatchMap)
    const merged = strategic(`{"data":{${key}:"1"}}`)
    expect(treeText(merged)).toBe(`{"data":{"a":"1",${key}:"1"}}`)
    expect(treeText(strategic(`{"data":{${key}:"2"}}`, merged))).toBe(`{"data":{"a":"1",${key}:"2"}}`)
    expect(treeText(strategic(`{"data":{${key}:null}}`, merged))).toBe('{"data":{"a":"1"}}')
  })

  test('is added, copied and removed by operations', () => {
    const patched = (operations: string, to = live()) =>
      applyJsonPatch(to, readJsonPatch(parseJson(operations), true)).document
    const added = patched(`[{"op":"add","path":"/data/${name}","value":"1"}]`)
    expect(Object.entries((added as { data: object }).data)).toContainEqual([name, '1'])
    const copied = patched(`[{"op":"copy","from":"/data/${name}","path":"/data/b"}]`, added)
    expect((copied as { data: object }).data).toMatchObject({ b: '1' })
    expect(treeText(patched(`[{"op":"remove","path":"/data/${name}"}]`, added))).toBe('{"data":{"a":"1"}}')
    expect(() => patched(`[{"op":"remove","path":"/data/${name}"}]`)).toThrow()
  })
})

const sorted = (...members: string[]) => `{"data":{${members.sort().join(',')}}}`
