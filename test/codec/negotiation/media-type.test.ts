import { describe, expect, test } from 'vitest'
import { bareRanges, contentTypeOf, parseAccept } from '../../../src/codec/negotiation/media-type.ts'

const ranges = (header: string) => parseAccept(header).map(({ type, subtype, q }) => `${type}/${subtype} ${q}`)

describe('Accept', () => {
  test.each<[header: string, clauses: string[]]>([
    ['application/json', ['application/json 1']],
    [' application/json , text/html ', ['application/json 1', 'text/html 1']],
    ['a/b;q=0.5,c/d;q=0.9', ['c/d 0.9', 'a/b 0.5']],
    ['a/b;q=0,c/d', ['c/d 1', 'a/b 0']],
    ['a/b;q=abc,c/d;q=0.1', ['c/d 0.1', 'a/b 0']],
    ['*/*,a/*,a/b', ['a/b 1', 'a/* 1', '*/* 1']],
    ['*', ['*/* 1']],
    ['*/', ['*/* 1']],
    ['application', []],
    ['a/b/c', []],
    ['a/b/', ['a/b 1']],
    ['', []],
  ])('%s', (header, clauses) => expect(ranges(header)).toEqual(clauses))

  test('parameters: without a value or with two they say nothing', () => {
    const [clause] = parseAccept('application/json;as=Table; v = v1;g=;x=a=b;y')
    expect([...clause!.parameters]).toEqual([
      ['as', 'Table'],
      ['v', 'v1'],
    ])
  })

  test('bare ranges', () => expect(bareRanges('a/b;q=1, */* ,c')).toEqual(['a/b', '*/*', 'c']))
})

describe('Content-Type', () => {
  test.each<[header: string, type: string | undefined]>([
    ['application/json', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;', 'application/json'],
    ['application/json; charset="a;b"', 'application/json'],
    ['application/json; charset', undefined],
    ['application/json; a=1; a=2', undefined],
    ['application/json, application/yaml', undefined],
    ['garbage', 'garbage'],
    ['*/*', '*/*'],
    ['a/b/c', undefined],
  ])('%s', (header, type) => expect(contentTypeOf(header)).toBe(type))
})
