/** Definitions in groups of the Kubernetes community need an annotation that names their approval (apihelpers). */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { goQuote } from '../../go/quote.ts'

export const APPROVED_BY = 'api-approved.kubernetes.io'
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'
const MUST = `protected groups must have approval annotation "${APPROVED_BY}"`

export interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid'
  readonly why: string
}

export const isProtectedGroup = (group: string): boolean => /(?:^|\.)(?:k8s\.io|kubernetes\.io)$/.test(group)

export function approvalOf({ metadata }: CustomResourceDefinition): Approval {
  const text = metadata.annotations?.[APPROVED_BY] ?? ''
  if (text === '') return { state: 'missing', why: `${MUST}, ${SEE}` }
  if (text.startsWith('unapproved')) return { state: 'bypassed', why: `not approved: ${goQuote(text)}` }
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+/i.test(text)) return { state: 'approved', why: `approved in ${text}` }
  return { state: 'invalid', why: `${MUST} with either a URL or a reason starting with "unapproved", ${SEE}` }
}
