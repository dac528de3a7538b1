/** kube-apiserver's `url` library, which gives the parts of a URL. */
import { listFrom, ValueMap } from '../../cel/values/collections.ts'
import type { Library } from '../../cel/declarations.ts'
import { fixed, readingOf, sameSize } from '../../cel/library/costs.ts'
import { fn, member, overload } from '../../cel/library/declare.ts'
import type { Type } from '../../cel/checker/type.ts'
import { BOOL, listOf, mapOf, STRING, structNamed } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { parsing, work } from '../../cel/evaluation/work.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'
import type { GoUrl } from '../../go/url.ts'
import {
  escapedPath,
  hostName,
  hostText,
  parseUrl,
  portOf,
  queryValues,
  requestUriProblem,
  urlText,
} from '../../go/url.ts'

const URL_TYPE = structNamed('kubernetes.URL')

class UrlValue extends OpaqueValue {
  readonly type = URL_TYPE
  constructor(
    readonly url: GoUrl,
    private readonly characters: number,
  ) {
    super()
  }

  override get length(): number {
    return this.characters
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && urlText(this.url) === urlText(other.url)
  }
}

function urlOf(text: string): Value {
  const url = parseUrl(parsing(text))
  return 'problem' in url
    ? new CelError(`URL parse error during conversion from string: ${url.problem}`)
    : new UrlValue(url, text.length)
}

const part = (name: string, id: string, run: (url: GoUrl) => Value, type: Type = STRING) =>
  // the types of arguments are checked before an overload runs
  fn(name, member(id, [URL_TYPE], type, { ...fixed(1), run: ([value]) => run((value as UrlValue).url) }))

/** Units of work for a pair of a query, which becomes a list in a map. */
const OF_PAIR = 50

function query(url: GoUrl): Value {
  const values = queryValues(url, () => work(OF_PAIR))
  return ValueMap.of([...values].map(([name, all]) => [name, listFrom(all)] as const))
}

export const url: Library = {
  name: 'kubernetes.urls',
  functions: [
    fn(
      'url',
      overload('string_to_url', [STRING], URL_TYPE, {
        ...readingOf(0, 1, sameSize),
        run: ([text]) => urlOf(text as string),
      }),
    ),
    part('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
    part('getHost', 'url_get_host', hostText),
    part('getHostname', 'url_get_hostname', hostName),
    part('getPort', 'url_get_port', portOf),
    part('getEscapedPath', 'url_get_escaped_path', escapedPath),
    part('getQuery', 'url_get_query', query, mapOf(STRING, listOf(STRING))),
    fn(
      'isURL',
      overload('is_url_string', [STRING], BOOL, {
        run: ([text]) => requestUriProblem(parsing(text as string)) === undefined,
      }),
    ),
  ],
}
