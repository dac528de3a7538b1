/**
 * Accepts the names of a CustomResourceDefinition that no other definition of its group has, and then establishes it
 * (kube-apiserver's naming and establishing controllers). Key: the definition's name.
 */
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../../api/apiextensions/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { setCondition } from '../../registry/apiextensions/custom-resource-definitions.ts'
import { conditionOf, DEFINITIONS, isConditionTrue, sameNames } from '../../registry/custom-resources/definition.ts'
import { authorityProblem } from '../../x509/authority-bundle.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { serverClients } from '../client/clientset.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import type { Controller, ControllerContext } from '../controller.ts'

export const crdNamesController: Controller = {
  neverGivesUp: true,
  async reconcile(name, context) {
    const group = name.slice(name.indexOf('.') + 1)
    // one definition of a group at a time, so that no two get the same name
    const named = await context.alone(`crd-names ${group}`, () => reconcileNames(name, group, context))
    await establish(serverClients(context).resource(DEFINITIONS), named, context)
    return undefined
  },
}

/** @returns the definition with its accepted names; undefined: it is gone */
async function reconcileNames(
  name: string,
  group: string,
  context: ControllerContext,
): Promise<Definition | undefined> {
  const inGroup = (await freshControlSnapshot(context)).inGroup<Definition>(DEFINITIONS, group)
  const own = inGroup.find(({ metadata }) => metadata.name === name)
  const client = serverClients(context).resource(DEFINITIONS)
  const written = own === undefined ? undefined : await acceptNames(client, own, inGroup, context)
  // other definitions may wait for names that this one had
  if (own === undefined || written !== undefined)
    for (const { metadata, spec, status } of inGroup)
      if (metadata.name !== name && !sameNames(spec?.names, status?.acceptedNames))
        context.later('crd-names', metadata.name!, 0)
  return written ?? own
}

type Definition = KubeObject & CustomResourceDefinition

/** @returns the written definition, if it was written */
async function acceptNames(
  client: ResourceClient,
  definition: Definition,
  inGroup: readonly Definition[],
  context: ControllerContext,
): Promise<Definition | undefined> {
  const { status } = definition
  const { names, problem } = namesFor(definition, inGroup)
  const before = conditionOf(definition, 'NamesAccepted')
  const condition =
    problem === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...problem }
  const isSame =
    before?.status === condition.status && before.reason === condition.reason && before.message === condition.message
  if (isSame && sameNames(names, status?.acceptedNames)) return undefined
  return client.updateStatusWithRetries(definition, (object) => {
    const written: Definition = object
    written.status = { ...written.status, acceptedNames: names }
    setCondition(written, context.now(), condition)
    if (isConditionTrue(written, 'Established')) return
    const accepted = {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
    }
    const refused = {
      type: 'Established',
      status: 'False',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    }
    const old = conditionOf(written, 'Established')
    setCondition(written, context.now(), problem === undefined ? accepted : (old ?? refused))
  })
}

interface Problem {
  readonly reason: string
  readonly message: string
}

/** The accepted names. Where other definitions have several of the wanted names, `problem` is about the last one. */
function namesFor(
  { spec, status }: CustomResourceDefinition,
  inGroup: readonly CustomResourceDefinition[],
): { names: CustomResourceDefinitionNames; problem?: Problem } {
  const wanted = spec?.names ?? {}
  const accepted = status?.acceptedNames ?? {}
  const taken = inGroup.map(({ status: other }) => other?.acceptedNames ?? {})
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]).filter(Boolean),
  )
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]).filter(Boolean))
  const names: CustomResourceDefinitionNames = { ...accepted }
  let problem: Problem | undefined
  const inUse = (name: string) => `${JSON.stringify(name)} is already in use`
  const take = (field: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string | undefined>) => {
    const name = wanted[field] ?? ''
    if (name !== (accepted[field] ?? '') && used.has(name))
      problem = { reason: `${field[0]!.toUpperCase()}${field.slice(1)}Conflict`, message: inUse(name) }
    else names[field] = name
  }
  take('plural', resources)
  take('singular', resources)
  const own = new Set(accepted.shortNames)
  const conflicts = (wanted.shortNames ?? []).filter((name) => !own.has(name) && resources.has(name))
  if (conflicts.length === 0) {
    if (wanted.shortNames === undefined) delete names.shortNames
    else names.shortNames = wanted.shortNames
  } else {
    const texts = [...new Set(conflicts.map(inUse))]
    problem = { reason: 'ShortNamesConflict', message: texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]` }
  }
  take('kind', kinds)
  take('listKind', kinds)
  if (wanted.categories === undefined) delete names.categories
  else names.categories = wanted.categories
  return problem === undefined ? { names } : { names, problem }
}

/**
 * Sets the condition Established when the names are accepted. A definition whose conversion webhook cannot be called
 * waits for another caBundle.
 */
async function establish(
  client: ResourceClient,
  definition: Definition | undefined,
  context: ControllerContext,
): Promise<void> {
  if (definition === undefined || !isConditionTrue(definition, 'NamesAccepted')) return
  if (isConditionTrue(definition, 'Established')) return
  if (hasBadBundle(definition) && conditionOf(definition, 'Established')?.reason === BAD_BUNDLE.reason) return
  await client.updateStatusWithRetries(definition, (object: Definition) =>
    setCondition(object, context.now(), hasBadBundle(object) ? BAD_BUNDLE : ESTABLISHED),
  )
}

const ESTABLISHED = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
}

const BAD_BUNDLE = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
}

const hasBadBundle = ({ spec }: CustomResourceDefinition): boolean =>
  authorityProblem(spec?.conversion?.webhook?.clientConfig?.caBundle) !== undefined
