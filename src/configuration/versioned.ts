/** Configuration as kube-apiserver reads it: objects with a version and a kind, whose fields all have to be known. */
import * as z from 'zod/mini'
import { goQuote } from '../go/quote.ts'

/** @throws Error in kube-apiserver's words, without the values of fields: they may be secrets */
export function readFields<T>(schema: z.ZodMiniType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const at = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  const field = at.replace(/^\./, '')
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `unknown field ${goQuote(field === '' ? key : `${field}.${key}`)}`)
    throw new Error(`strict decoding error: ${names.join(', ')}`)
  }
  throw new Error(`${field}: ${issue.message}`)
}

const typeMeta = z.looseObject({ apiVersion: z.optional(z.string()), kind: z.optional(z.string()) })

interface ConfigurationType {
  readonly group: string
  readonly versions: readonly string[]
  readonly kind: string
}

/**
 * @param types of which it may have any, all with the same fields
 * @returns the object without its apiVersion and kind
 */
export function readVersioned<T>(schema: z.ZodMiniType<T>, value: unknown, ...types: readonly ConfigurationType[]): T {
  const { apiVersion = '', kind: own = '', ...fields } = readFields(typeMeta, value)
  if (own === '') throw new Error("Object 'Kind' is missing")
  if (apiVersion === '') throw new Error("Object 'apiVersion' is missing")
  const isRegistered = types.some(
    ({ group, versions, kind }) => own === kind && versions.some((version) => apiVersion === `${group}/${version}`),
  )
  if (!isRegistered) throw new Error(`no kind ${goQuote(own)} is registered for version ${goQuote(apiVersion)}`)
  return readFields(schema, fields)
}
