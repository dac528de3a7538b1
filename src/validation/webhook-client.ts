/** Validates the clientConfig of a webhook: a URL or a Service (apiserver's pkg/util/webhook). */
import type { FieldError, FieldPath } from '../api/field.ts'
import { parseReference } from '../go/url.ts'
import { invalidValue, required } from '../api/field.ts'
import { portNumberProblems, requiredText } from './field-rules.ts'
import { dns1123Subdomain } from './names.ts'

export interface WebhookService {
  readonly namespace?: string
  readonly name?: string
  readonly path?: string
  readonly port?: number
}

export interface WebhookClient {
  readonly url?: string
  readonly service?: WebhookService
}

export function webhookClientErrors({ url, service }: WebhookClient, at: FieldPath): FieldError[] {
  if (url !== undefined && service === undefined) return urlErrors(url, at.child('url'))
  if (url === undefined && service !== undefined) return serviceErrors(service, at.child('service'))
  return [required(at, 'exactly one of url or service is required')]
}

const FORM = '; desired format: https://host[/path]'

function urlErrors(text: string, at: FieldPath): FieldError[] {
  const url = parseReference(text)
  if ('problem' in url) return [required(at, `url must be a valid URL: ${url.problem}${FORM}`)]
  const { scheme, authority, query, fragment } = urlParts(text)
  const errors: FieldError[] = []
  const add = (value: string, why: string) => errors.push(invalidValue(at, value, why))
  if (scheme !== 'https') add(scheme, `'https' is the only allowed URL scheme${FORM}`)
  const userEnd = authority.lastIndexOf('@')
  if (authority.slice(userEnd + 1) === '') add('', `host must be specified${FORM}`)
  if (userEnd >= 0) add(authority.slice(0, userEnd), 'user information is not permitted in the URL')
  if (fragment !== '') add(fragment, 'fragments are not permitted in the URL')
  if (query !== '') add(query, 'query parameters are not permitted in the URL')
  return errors
}

interface UrlParts {
  readonly scheme: string
  /** Empty where no `//` follows the scheme. */
  readonly authority: string
  /** The text between scheme and query, with the authority. */
  readonly rest: string
  readonly query: string
  readonly fragment: string
}

function urlParts(text: string): UrlParts {
  const [, scheme = '', rest = '', query = '', fragment = ''] =
    /^(?:([a-z][a-z0-9+.-]*):)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text) ?? []
  const [, authority = ''] = /^\/\/([^/]*)/.exec(rest) ?? []
  return { scheme: scheme.toLowerCase(), authority, rest, query, fragment }
}

/** kube-apiserver confuses the fields: it reports a missing name at `namespace`, and a missing namespace at `name`. */
function serviceErrors({ name, namespace, path = '', port = 443 }: WebhookService, at: FieldPath): FieldError[] {
  return [
    ...requiredText(at.child('name'), namespace),
    ...requiredText(at.child('namespace'), name),
    ...portNumberProblems(port).map((text) => invalidValue(at.child('port'), port, `port is not valid: ${text}`)),
    ...pathProblems(path).map((text) => invalidValue(at.child('path'), path, text)),
  ]
}

function pathProblems(path: string): string[] {
  if (path === '' || path === '/') return []
  if (path === '//') return ['segment[0] may not be empty']
  // kube-apiserver cuts off the first byte
  const steps = path
    .replace(/^[\x00-\x7f]/, '')
    .replace(/\/$/, '')
    .split('/')
  return [
    ...(path.startsWith('/') ? [] : ["must start with a '/'"]),
    ...steps.flatMap((step, index) =>
      step === ''
        ? [`segment[${index}] may not be empty`]
        : dns1123Subdomain(step).map((text) => `segment[${index}]: ${text}`),
    ),
  ]
}
