// Selectors that are long, deep, many or odd. The server answers each, and none shows or deletes too much.
import { row } from './row.ts'
import type { Row } from './row.ts'

const A = '/api/v1/namespaces/a/configmaps'
const B = '/api/v1/namespaces/b/configmaps'
const BAD = '400 BadRequest'
const FORBIDDEN = '403 Forbidden'

const labelled = (rule: string, selector: string, answer: string): Row =>
  row(rule, 'owner', `GET ${A}?labelSelector=${encodeURIComponent(selector)}`, answer, undefined, none)
const fielded = (rule: string, selector: string, answer: string): Row =>
  row(rule, 'owner', `GET ${A}?fieldSelector=${encodeURIComponent(selector)}`, answer)
/** The list is authorized and empty: no object of the namespace has such labels. */
const none: Row['check'] = ({ status, text }) => {
  if (status === 200 && (JSON.parse(text) as { items: unknown[] }).items.length > 0) throw new Error(text.slice(0, 200))
}
const many = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(',')

export const selectors: readonly Row[] = [
  labelled(
    'a thousand requirements',
    many(1_000, (n) => `k${n}=v`),
    '200',
  ),
  labelled(
    'a thousand times the same',
    many(1_000, () => 'k=v'),
    '200',
  ),
  labelled('what cannot be', 'k=v,k!=v', '200'),
  labelled('five thousand values', `k in (${many(5_000, (n) => `v${n}`)})`, '200'),
  labelled('five thousand times one value', `k in (${many(5_000, () => 'v')})`, '200'),
  labelled('a value of nothing', 'k in ()', '200'),
  labelled('values of nothing', 'k in (,,,)', '200'),
  labelled('blanks everywhere', `  k   in   (  a ,  b )  ,  j  =  w  `, '200'),
  labelled('ten thousand blanks', `k${' '.repeat(10_000)}=${' '.repeat(10_000)}v`, '200'),
  labelled('tabs and lines', 'k\t=\r\nv', '200'),
  labelled('a hundred brackets in one another', `k in ${'('.repeat(100)}a${')'.repeat(100)}`, BAD),
  labelled('brackets without end', `k in (${'('.repeat(10_000)}`, BAD),
  labelled('a list without end', `k in (${many(5_000, () => 'v')}`, BAD),
  labelled('ten thousand commas', `k=v${','.repeat(10_000)}`, BAD),
  labelled('ten thousand marks of exclamation', '!'.repeat(10_000), BAD),
  labelled('ten thousand signs of equality', `k${'='.repeat(10_000)}`, BAD),
  labelled('a key of 50,000 signs', `${'k'.repeat(50_000)}=v`, BAD),
  labelled('a value of 50,000 signs', `k=${'v'.repeat(50_000)}`, BAD),
  labelled('a prefix of 300 signs', `${'p.'.repeat(150)}x/k=v`, BAD),
  labelled('a number that is too large', 'k>99999999999999999999', BAD),
  labelled('a number that is none', 'k<1e3', BAD),
  labelled('a negative number', 'k>-1', BAD),
  labelled('two numbers', 'k>1,k<2', '200'),
  labelled('two values for one number', 'k>1 2', BAD),
  // NUL ends the text, as in the lexer of kube-apiserver
  labelled('a sign of control', 'k=\u0000', '200'),
  labelled('a mark of octets', '\ufeffk=v', BAD),
  labelled('a letter of another script', 'k=v\u0430', BAD),
  labelled('half a sign', 'k=%ud800', BAD),
  labelled('a pattern', 'k=.*', BAD),
  labelled('quotes', `k='v'`, BAD),
  labelled('words of SQL', `k=v' OR '1'='1`, BAD),
  labelled('a statement of SQL', 'k=v;DROP TABLE rev', BAD),
  labelled('a joker of SQL', 'k=%25', BAD),
  labelled('a path of JSON', 'k=$.x', BAD),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'].flatMap((name) => [
    labelled(`the key ${name}`, `${name}=x`, name.startsWith('_') ? BAD : '200'),
    labelled(`the key ${name} exists`, name, name.startsWith('_') ? BAD : '200'),
    labelled(`the value ${name}`, `k in (${name})`, name.startsWith('_') ? BAD : '200'),
    fielded(`the field ${name}`, `${name}=x`, BAD),
    fielded(`the field metadata.${name}`, `metadata.${name}=x`, BAD),
  ]),
  row(
    'the key is not there, and everything is',
    'owner',
    `GET ${A}?labelSelector=${encodeURIComponent('!constructor')}`,
    '200',
  ),
  row('an octet that is no UTF-8', 'owner', `GET ${A}?labelSelector=k%3D%ff%fe`, BAD),
  // if the server lost a parameter, the deletion would delete everything, or would be no dry run
  ...[
    'labelSelector=k%3D%ff',
    'labelSelector=%ff',
    'labelSelector=k%3D%c3%28',
    'labelSelector=k%3D%ed%a0%80',
    'labelSelector=k%3D%e2%82',
  ].flatMap((query) => [
    row(`deleting by ${query}`, 'owner', `DELETE ${A}?dryRun=All&${query}`, BAD),
    row(`a list by ${query}`, 'owner', `GET ${A}?${query}`, BAD),
  ]),
  ...['fieldSelector=%ff%3Dx', 'fieldSelector=metadata.%ff%3Dx'].map((query) =>
    row(`deleting by ${query}`, 'owner', `DELETE ${A}?dryRun=All&${query}`, BAD),
  ),
  ...['fieldSelector=metadata.name%3D%ff', 'fieldSelector=metadata.name%3D%c3%28'].map((query) =>
    row(`a list by ${query}`, 'owner', `GET ${A}?${query}`, '200', undefined, none),
  ),
  ...['dryRun=%ff', 'dryRun=All%ff', 'fieldValidation=%ff'].map((query) =>
    row(`a write with ${query}`, 'owner', `POST ${A}?dryRun=All&${query}`, '422 Invalid', {
      body: { metadata: { name: 'tried' } },
    }),
  ),
  row('an option that is no UTF-8, first', 'owner', `POST ${A}?dryRun=%ff`, '422 Invalid', {
    body: { metadata: { name: 'written-in-earnest' } },
  }),
  row('a policy that is no UTF-8', 'owner', `DELETE ${A}/one?dryRun=All&propagationPolicy=%ff`, '422 Invalid'),
  row('a version that is no UTF-8', 'owner', `GET ${A}?resourceVersion=%ff`, BAD),
  row('a continue token that is no UTF-8', 'owner', `GET ${A}?limit=1&continue=%ff`, BAD),
  row('half an escape', 'owner', `GET ${A}?labelSelector=k%3`, '200'),
  row('an escape of an escape', 'owner', `GET ${A}?labelSelector=k%253Dv`, BAD),
  row(
    'two selectors: the first counts',
    'owner',
    `GET ${A}?labelSelector=k%3Dv&labelSelector=`,
    '200',
    undefined,
    none,
  ),
  row('a selector in other letters is none', 'owner', `GET ${A}?LabelSelector=k%3Dv`, '200'),
  fielded('a name', 'metadata.name=ghost', '200'),
  fielded(
    'a thousand names',
    many(1_000, (n) => `metadata.name=n${n}`),
    '200',
  ),
  fielded(
    'a thousand times not',
    many(1_000, (n) => `metadata.name!=n${n}`),
    '200',
  ),
  fielded('ten thousand commas', ','.repeat(10_000), '200'),
  fielded('backslashes', `metadata.name=${'\\\\'.repeat(1_000)}`, '200'),
  fielded('a backslash at the end', 'metadata.name=a\\', BAD),
  fielded('a backslash before a letter', 'metadata.name=\\a', BAD),
  fielded('a value of 50,000 signs', `metadata.name=${'n'.repeat(50_000)}`, '200'),
  fielded('a key of 50,000 signs', `${'k'.repeat(50_000)}=v`, BAD),
  fielded('a deep key', `${'a.'.repeat(5_000)}b=c`, BAD),
  fielded('another namespace', 'metadata.namespace=b', '200'),
  fielded('a joker', 'metadata.name=*', '200'),
  fielded('words of SQL', `metadata.name=one' OR '1'='1`, BAD),
  fielded('a sign of control', 'metadata.name=one\u0000', '200'),
  fielded('a list', 'metadata.name in (one)', BAD),
  ...['=', '!=', '==', '=,=', ',=,'].map((nothing) => fielded('nothing equals nothing', nothing, '200')),
  ...['=x', '!=x', 'x=', '=,x='].map((nothing) => fielded('nothing equals something', nothing, BAD)),
  fielded('two signs of equality', 'metadata.name==one', '200'),
  fielded('three signs of equality', 'metadata.name===one', BAD),
  fielded('what is not and is not', 'metadata.name!=one,metadata.name!=two', '200'),
  // no selector shows objects that the user may not list
  ...['metadata.name=one', 'metadata.namespace=a', 'metadata.name=one,metadata.namespace=a'].flatMap((selector) => [
    row('another namespace by a field', 'owner', `GET ${B}?fieldSelector=${encodeURIComponent(selector)}`, FORBIDDEN),
    row(
      'all namespaces by a field',
      'owner',
      `GET /api/v1/configmaps?fieldSelector=${encodeURIComponent(selector)}`,
      FORBIDDEN,
    ),
    row(
      'a watch of all by a field',
      'owner',
      `GET /api/v1/configmaps?watch=1&fieldSelector=${encodeURIComponent(selector)}`,
      FORBIDDEN,
    ),
    row(
      'deleting all by a field',
      'owner',
      `DELETE ${B}?dryRun=All&fieldSelector=${encodeURIComponent(selector)}`,
      FORBIDDEN,
    ),
  ]),
  // a malformed selector must not delete everything
  ...['k in (', '!!', 'k=v=w', 'k=~v'].map((selector) =>
    row(
      'deleting by what is no selector',
      'owner',
      `DELETE ${A}?dryRun=All&labelSelector=${encodeURIComponent(selector)}`,
      BAD,
    ),
  ),
  ...['data.k=a', 'metadata.labels=x', 'x'].map((selector) =>
    row(
      'deleting by what is no field',
      'owner',
      `DELETE ${A}?dryRun=All&fieldSelector=${encodeURIComponent(selector)}`,
      BAD,
    ),
  ),
  ...['k in (', 'k=v=w'].map((selector) =>
    row(
      'a watch of what is no selector',
      'owner',
      `GET ${A}?watch=1&timeoutSeconds=1&labelSelector=${encodeURIComponent(selector)}`,
      BAD,
    ),
  ),
  row('a watch of what is no field', 'owner', `GET ${A}?watch=1&timeoutSeconds=1&fieldSelector=data.k%3Da`, BAD),
]
