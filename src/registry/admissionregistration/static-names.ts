/** Names that the server keeps for admission that files configure (KEP 5793). */
import type { FieldError } from '../../api/field.ts'
import { invalidValue, path } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StrategyContext } from '../strategy.ts'

const STATIC = '.static.k8s.io'
const GATE = 'ManifestBasedAdmissionControlConfig'

const RESERVED = `names ending with ${goQuote(STATIC)} are reserved for static manifest-based configurations and cannot be managed via the API`

type Context = Pick<StrategyContext, 'enabled'>

const isStatic = ({ metadata: { name = '' } }: KubeObject): boolean => name.endsWith(STATIC)

/** No files configure admission here, and yet nobody else may take their names. */
export const staticNameErrors = (object: KubeObject, { enabled }: Context): FieldError[] =>
  isStatic(object) && enabled(GATE)
    ? [invalidValue(path('metadata', 'name'), object.metadata.name ?? '', RESERVED)]
    : []

/** Where such a name is refused there is no warning beside. */
export const staticNameWarningsOnCreate = (object: KubeObject, { enabled }: Context): string[] =>
  enabled(GATE) ? [] : staticNameWarnings(object)

export const staticNameWarnings = (object: KubeObject): string[] =>
  isStatic(object) ? [`metadata.name: ${RESERVED}`] : []
