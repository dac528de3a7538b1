// A selector never selects more than it says, in every verb that takes one. A malformed selector selects nothing.
import { row } from './row.ts'
import type { Headers, Row } from './row.ts'
import { METADATA, once, only, TABLE } from './selecting.ts'

const A = '/api/v1/namespaces/a'
const MAPS = `${A}/configmaps`
const BAD = '400 BadRequest'
const encoded = encodeURIComponent

const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sel-0': {},
  'sel-1': { k: 'a' },
  'sel-2': { k: 'b', 'example.com/p': 'x' },
  'sel-3': { k: '' },
  'sel-4': { constructor: 'x', toString: 'y' },
  'sel-5': { n: '10' },
  'sel-6': { n: '0' },
  'sel-7': { n: '007' },
  'sel-8': { in: 'notin', notin: 'in' },
}
const ALL = Object.keys(LABELS).map((name) => Number(name.slice(4)))
const labelled = once(async (world) => {
  for (const [name, labels] of Object.entries(LABELS))
    await world.make(MAPS, { metadata: { name, labels: { ...labels, of: 'sel' } }, data: { k: name } })
})
const but = (...numbers: readonly number[]): readonly number[] => ALL.filter((number) => !numbers.includes(number))
const many = (count: number, of: string): string => Array.from({ length: count }, (_, n) => `${of}${n}`).join(',')

/** Selectors that follow `of=sel`, with the numbers of the selected objects. */
const SELECTING: readonly (readonly [selector: string, selected: readonly number[]])[] = [
  ['k', [1, 2, 3]],
  ['!k', but(1, 2, 3)],
  ['k=', [3]],
  ['k==', [3]],
  ['k!=', but(3)],
  ['k=a', [1]],
  ['k!=a', but(1)],
  ['k in (a,b)', [1, 2]],
  ['k notin (a,b)', but(1, 2)],
  ['k in ()', [3]],
  ['k notin ()', but(3)],
  ['k in (,)', [3]],
  ['k in (a,)', [1, 3]],
  [`k in (${many(4_000, 'v')},a)`, [1]],
  [`k notin (${many(4_000, 'v')},a)`, but(1)],
  [Array.from({ length: 500 }, () => 'k=a').join(','), [1]],
  [many(500, '!k'), ALL],
  ['k=a,k=b', []],
  ['k=a,k!=a', []],
  ['k,!k', []],
  ['k in (a,b),k notin (a)', [2]],
  ['k=A', []],
  ['K=a', []],
  ['k=a ', [1]],
  ['example.com/p=x', [2]],
  ['p=x', []],
  ['example.com/p', [2]],
  ['constructor=x', [4]],
  ['constructor', [4]],
  ['!constructor', but(4)],
  ['toString in (y)', [4]],
  ['valueOf', []],
  ['!valueOf', ALL],
  ['hasOwnProperty!=x', ALL],
  ['n>5', [5, 7]],
  ['n>7', [5]],
  ['n<0', []],
  ['n<1', [6]],
  ['n<7', [6]],
  ['n<8', [6, 7]],
  ['n>9223372036854775807', []],
  ['k>0', []],
  ['k<0', []],
  ['in=notin', [8]],
  ['notin in (in)', [8]],
  ['in notin (notin)', but(8)],
  ['in', [8]],
  ['k in(a)', [1]],
  ['of=sel,of=sel', ALL],
  ['of!=sel', []],
]

const numbered = (numbers: readonly number[]): Row['check'] => only(...numbers.map((number) => `sel-${number}`))

const selecting: readonly Row[] = SELECTING.flatMap(([selector, selected]) => {
  const query = `labelSelector=${encoded(`of=sel,${selector}`)}`
  const asked = (request: string, headers: Headers = {}): Row =>
    row(
      selector.slice(0, 60),
      'owner',
      request,
      '200',
      async (world) => {
        await labelled(world)
        return { headers }
      },
      numbered(selected),
    )
  return [
    asked(`GET ${MAPS}?${query}`),
    asked(`GET ${MAPS}?resourceVersion=0&${query}`, METADATA),
    asked(`DELETE ${MAPS}?dryRun=All&${query}`),
  ]
})

/** The server must refuse these: a list would show too much, a deletion would delete everything. */
const BROKEN: readonly string[] = [
  '=',
  '==',
  ',',
  ',k=a',
  'k=a,',
  'k=a\u0000,!!!',
  'k=a,,k=b',
  'k in',
  'k in a',
  'k in (a',
  'k in a)',
  'k in ((a))',
  'k in (a)(b)',
  'k notin',
  'k IN (a)',
  'k exists',
  '!k=a',
  '!',
  '!!k',
  'k!',
  'k!a',
  'k=>a',
  'k>=1',
  'k<=1',
  'k><1',
  'k>a',
  'k>',
  'k>1.5',
  'k=~a',
  'k~a',
  'k=a|k=b',
  'k=a&k=b',
  'k=*',
  'k=a b',
  'k="a"',
  '/k=a',
  'k/=a',
  'a/b/c=d',
  '-k=a',
  'k-=a',
  'k=-a',
  'k=a/b',
  '{"k":"a"}',
  'matchLabels=a,()',
  '\u00e9=a',
  'k=\u00e9',
  '\u202ek=a',
  'k=\ud83d\ude00',
  'k\u00a0=a',
  '__proto__=x',
  '__proto__',
  'k=__proto__',
  `k=${'v'.repeat(64)}`,
  `${'k'.repeat(64)}=v`,
  'A.example/k=v',
]
const broken: readonly Row[] = BROKEN.flatMap((selector) => {
  const query = `labelSelector=${encoded(selector)}`
  return [
    row(`a list by ${selector.slice(0, 40)}`, 'owner', `GET ${MAPS}?${query}`, BAD),
    row(`a deletion by ${selector.slice(0, 40)}`, 'owner', `DELETE ${MAPS}?dryRun=All&${query}`, BAD),
  ]
})
const brokenElsewhere: readonly Row[] = ['k in (', '!k=a', '\u00e9=a'].flatMap((selector) => {
  const query = `labelSelector=${encoded(selector)}`
  return [
    row('a list of metadata', 'owner', `GET ${MAPS}?${query}`, BAD, { headers: METADATA }),
    row('a Table', 'owner', `GET ${MAPS}?${query}`, BAD, { headers: TABLE }),
    row('a watch', 'owner', `GET ${MAPS}?watch=1&timeoutSeconds=1&${query}`, BAD),
    row('a watch of metadata', 'owner', `GET ${MAPS}?watch=1&timeoutSeconds=1&${query}`, BAD, { headers: METADATA }),
    row('a watch by its old path', 'owner', `GET /api/v1/watch/namespaces/a/configmaps?timeoutSeconds=1&${query}`, BAD),
    row('a page', 'owner', `GET ${MAPS}?limit=1&${query}`, BAD),
    row('an old state', 'owner', `GET ${MAPS}?resourceVersion=1&resourceVersionMatch=Exact&${query}`, BAD),
    row('a deletion with options in its body', 'owner', `DELETE ${MAPS}?${query}`, BAD, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
    }),
    row('a deletion of Secrets', 'owner', `DELETE ${A}/secrets?dryRun=All&${query}`, BAD),
    row('the first of two', 'owner', `DELETE ${MAPS}?dryRun=All&${query}&labelSelector=x%3Dy`, BAD),
    row(
      'a good field beside it',
      'owner',
      `DELETE ${MAPS}?dryRun=All&${query}&fieldSelector=metadata.name%3Dghost`,
      BAD,
    ),
  ]
})

/** Without dryRun a deletion deletes the selected objects and leaves the others. */
const doomed = once(async (world) => {
  for (const name of ['doomed-1', 'doomed-2', 'doomed-3'])
    await world.make(MAPS, { metadata: { name, labels: { doomed: name === 'doomed-3' ? 'no' : 'yes' } } })
})
const deleting: readonly Row[] = [
  row(
    'in earnest',
    'owner',
    `DELETE ${MAPS}?labelSelector=${encoded('doomed in (yes)')}`,
    '200',
    async (world) => {
      await doomed(world)
      return {}
    },
    only('doomed-1', 'doomed-2'),
  ),
  row('and the others are there', 'owner', `GET ${MAPS}?labelSelector=doomed`, '200', undefined, only('doomed-3')),
  row(
    'labels and a field: both',
    'owner',
    `DELETE ${MAPS}?labelSelector=doomed&fieldSelector=${encoded('metadata.name=one')}`,
    '200',
    undefined,
    only(),
  ),
  row(
    'a field of another namespace',
    'owner',
    `DELETE ${MAPS}?labelSelector=doomed&fieldSelector=${encoded('metadata.namespace=b')}`,
    '200',
    undefined,
    only(),
  ),
  row(
    'a field that says no',
    'owner',
    `DELETE ${MAPS}?labelSelector=doomed&fieldSelector=${encoded('metadata.name!=doomed-3')}`,
    '200',
    undefined,
    only(),
  ),
  row('and it is there still', 'owner', `GET ${MAPS}/doomed-3`, '200'),
  row(
    'all namespaces are not deleted at once',
    'admin',
    'DELETE /api/v1/configmaps?labelSelector=doomed',
    '405 MethodNotAllowed',
  ),
]

export const selected: readonly Row[] = [...selecting, ...broken, ...brokenElsewhere, ...deleting]
