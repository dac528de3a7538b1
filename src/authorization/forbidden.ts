import { goQuote } from '../go/quote.ts'
import { ownValue } from '../base/own.ts'
import type { StatusError } from '../api/status.ts'
import { forbidden } from '../api/status.ts'
import type { AuthorizationAttributes } from './attributes.ts'

/** `User "U" cannot list resource "pods" in API group "" in the namespace "NS"` */
export function forbiddenMessage(asked: AuthorizationAttributes): string {
  const { user, verb, path, apiGroup, resource, subresource, namespace } = asked
  const who = `User ${goQuote(user.name)} cannot ${verb}`
  if (!asked.isResourceRequest) return `${who} path ${goQuote(path)}`
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  return `${who} resource ${goQuote(what)} in API group ${goQuote(apiGroup)} ${where}`
}

/** 403. Text of clients is escaped, so that no browser interprets it as HTML. */
export function forbiddenBy(asked: AuthorizationAttributes, reason: string): StatusError {
  const message = escapeHtml(forbiddenMessage(asked))
  const resource = asked.isResourceRequest ? asked.resource : ''
  const why = reason === '' ? message : `${message}: ${reason}`
  return forbidden({ group: asked.apiGroup, resource }, asked.name, why, undefined, NO_SNIFFING)
}

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' }

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, (character) => ownValue(entities, character)!)
