/** Converts objects to the versions in which managers own their fields (apiextensions' conversion/converter.go). */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import { parseApiVersion } from '../../api/group-version.ts'
import type { JsonObject } from '../../api/object.ts'
import { asJson } from '../../api/object.ts'
import { plainError } from '../../api/status.ts'
import { NeedsAnswer } from '../../base/slices.ts'
import { goQuote } from '../../go/quote.ts'
import type { ConvertVersion } from '../../patch/object-versions.ts'
import type { ApiCall } from '../../request/context.ts'
import type { Convertible } from './conversion-review.ts'
import { compiledVersion } from './compiled-versions.ts'
import { convertByWebhook, isConvertedByWebhook } from './conversion-webhook.ts'
import { versionNamed } from './definition.ts'

/** An object in another version, or why there is none. */
type Conversion = { readonly object: JsonObject } | { readonly error: unknown }

/**
 * Without a webhook the object keeps its fields, and those that the other version does not declare are errors, as in
 * kube-apiserver. Pruning them instead would lose them, because a write may go on with the converted object.
 */
export function betweenVersions(request: ApiCall, definition: CustomResourceDefinition): ConvertVersion {
  const converted: ConvertObject = isConvertedByWebhook(definition)
    ? byWebhook(request, definition)
    : (object, apiVersion) => ({ ...object, apiVersion })
  return (object, apiVersion) => {
    const version = targetOf(definition, object, apiVersion)
    return {
      type: compiledVersion(request.tenant, definition, version).type,
      object: converted(object, apiVersion, version),
    }
  }
}

type ConvertObject = (object: JsonObject, apiVersion: string, version: string) => JsonObject

/** A version that the definition does not have any more is an error. @throws StatusError 500 */
function targetOf(definition: CustomResourceDefinition, { apiVersion: from, kind }: JsonObject, to: string): string {
  const { group = '', version = '' } = parseApiVersion(to) ?? {}
  if (group !== definition.spec?.group)
    throw plainError(
      `${String(from)}, Kind=${String(kind)} is unstructured and is not suitable for converting to ${goQuote(to)}`,
    )
  if (versionNamed(definition, version) === undefined)
    throw plainError(`request to convert CR to an invalid group/version: ${to}`)
  return version
}

/** Asks the webhook once for each object and version. @throws NeedsAnswer, and then what it answers */
function byWebhook(request: ApiCall, definition: CustomResourceDefinition): ConvertObject {
  /** Bound: the versions of the definition, for each of the few objects of one write, as long as they live. */
  const answers = new WeakMap<JsonObject, Map<string, Conversion>>()
  const ask = async (object: JsonObject, version: string): Promise<Conversion> => {
    try {
      // field managers own fields of this kind only
      const sent = object as unknown as Convertible
      const [converted] = await convertByWebhook(request, definition, [sent], version, 'made')
      return { object: asJson(converted!) }
    } catch (error) {
      return { error }
    }
  }
  return (object, _apiVersion, version) => {
    const known = answers.get(object) ?? new Map<string, Conversion>()
    answers.set(object, known)
    const answer = known.get(version)
    if (answer === undefined)
      throw new NeedsAnswer(ask(object, version).then((answered) => void known.set(version, answered)))
    if ('error' in answer) throw answer.error
    return answer.object
  }
}
