// Continue tokens and selectors that a client forged.
import { row } from './row.ts'
import type { Row } from './row.ts'

const A = '/api/v1/namespaces/a/configmaps'
const BAD = '400 BadRequest'
const json = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const FORGED: readonly string[] = [
  'x',
  '!!!',
  '%00',
  'AAAA',
  '=',
  'e30',
  'bnVsbA',
  'W10',
  'A'.repeat(5_000),
  json({ v: 'meta.k8s.io/v1', rv: 'x', start: 'one' }),
  json({ v: 'meta.k8s.io/v1', rv: 5 }),
  json({ v: 'meta.k8s.io/v1', rv: 5, start: '' }),
  json({ v: 'meta.k8s.io/v1', rv: 5, start: '../b/one' }),
  json({ v: 'meta.k8s.io/v1', rv: 5, start: '../../secrets/b/one' }),
  json({ v: 'meta.k8s.io/v1', rv: 5, start: 'a/../../b' }),
  json({ v: 'meta.k8s.io/v2', rv: 5, start: 'one' }),
  json({ v: '__proto__', rv: 5, start: 'one' }),
  json({ rv: 5, start: 'one' }),
]

export const lists: readonly Row[] = [
  ...FORGED.map((token) =>
    row('a continue token that the server did not make', 'owner', `GET ${A}?limit=1&continue=${token}`, BAD),
  ),
  ...FORGED.slice(0, 3).map((token) =>
    row('nor is it read for who may not list', 'nobody', `GET ${A}?limit=1&continue=${token}`, '403 Forbidden'),
  ),
  row('continuing needs the first version', 'owner', `GET ${A}?limit=1&resourceVersion=1&continue=e30`, BAD),
  ...[
    'a=b=c',
    'a in',
    'a in (',
    'a in (b',
    '!',
    'a!',
    '(a)',
    'a=b,,c',
    'a b',
    '=',
    'a/b/c=d',
    `${'k'.repeat(64)}=v`,
    `k=${'v'.repeat(64)}`,
    'a=b;c',
    'a>x',
    'a=~b',
    'a notin',
    'ä=b',
  ].map((selector) =>
    row('a label selector that is none', 'owner', `GET ${A}?labelSelector=${encodeURIComponent(selector)}`, BAD),
  ),
  ...[
    'metadata',
    'metadata.name',
    'data.k=a',
    'spec.x=y',
    'metadata.labels.x=y',
    'constructor=x',
    '__proto__=x',
    'metadata.name>a',
    'metadata.uid=x',
    'metadata.name=one;x',
  ].map((selector) =>
    row(
      'a field selector that is none',
      'owner',
      `GET ${A}?fieldSelector=${encodeURIComponent(selector)}`,
      selector.endsWith(';x') ? '200' : BAD,
    ),
  ),
  ...['-1', 'x', '1.5', '99999999999999999999', '0x10'].map((version) =>
    row('a version that is none', 'owner', `GET ${A}?resourceVersion=${version}`, BAD),
  ),
  ...['limit=x', 'timeoutSeconds=x', 'limit=1e3', 'limit=99999999999999999999'].map((query) =>
    row('a number that is none', 'owner', `GET ${A}?${query}`, BAD),
  ),
  row('a match without a version', 'owner', `GET ${A}?resourceVersionMatch=Exact`, '422 Invalid'),
  row('a match of nobody’s', 'owner', `GET ${A}?resourceVersion=1&resourceVersionMatch=constructor`, '422 Invalid'),
]
