import { describe, expect, it } from 'vitest'
import { parseFieldSelector } from '../../../src/storage/selectors/field-selector.ts'
import { matchesFields } from '../../../src/storage/selectors/selection.ts'

describe('field selectors', () => {
  it.each([
    ['', []],
    ['a=b', [{ field: 'a', operator: '=', value: 'b' }]],
    ['a==b', [{ field: 'a', operator: '=', value: 'b' }]],
    ['a!=b', [{ field: 'a', operator: '!=', value: 'b' }]],
    [',a=b,', [{ field: 'a', operator: '=', value: 'b' }]],
    ['=a', [{ field: '', operator: '=', value: 'a' }]],
    [' a = b', [{ field: ' a ', operator: '=', value: ' b' }]],
    ['a=b\\,c\\=d\\\\', [{ field: 'a', operator: '=', value: 'b,c=d\\' }]],
    [
      'b=1,a=2,,a=2',
      [
        { field: 'a', operator: '=', value: '2' },
        { field: 'a', operator: '=', value: '2' },
        { field: 'b', operator: '=', value: '1' },
      ],
    ],
  ] as const)('%j', (text, requirements) => {
    expect(parseFieldSelector(text)).toEqual(requirements)
  })

  it.each([
    [' ', "invalid selector: ' '; can't understand ' '"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a===b', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%j is refused', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('knows name and namespace from the key, and takes an absent field for an empty one', () => {
    const fields = { 'status.phase': 'Running' }
    const selects = (text: string) => matchesFields(parseFieldSelector(text), 'team/web', fields)
    expect(selects('metadata.name=web,metadata.namespace=team,status.phase=Running')).toBe(true)
    expect(selects('metadata.name=team')).toBe(false)
    expect(selects('spec.nodeName=')).toBe(true)
    expect(selects('spec.nodeName!=')).toBe(false)
    expect(matchesFields(parseFieldSelector('metadata.name=node-1,metadata.namespace='), 'node-1', {})).toBe(true)
  })
})
