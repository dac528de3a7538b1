/** What the annotations of a pod say that control its simulation. */
import type { Container, Pod } from '../../api/core/v1.ts'
import { mostOf } from '../../base/extremes.ts'
import { ownValue } from '../../base/own.ts'
import type { CommandOutcome, Printed } from './commands.ts'
import { outcomeOf } from './commands.ts'
import { durationOf } from '../../go/duration.ts'
import { controllerRefOf } from '../../registry/work/work.ts'
import type { Quantity } from '../../schema/quantity.ts'
import { amount, duration, exitCode, SIMULATION } from '../../validation/pod/simulation-annotations.ts'

const ending = (duration: number): number | undefined => (duration === Infinity ? undefined : duration)

export class Script {
  /** @param isMissing whether an image cannot be pulled */
  constructor(
    private readonly pod: Pod,
    private readonly isMissing: (image: string) => boolean = () => false,
  ) {}

  private text(name: string, container: string): string | undefined {
    const { annotations } = this.pod.metadata
    return ownValue(annotations, `${SIMULATION}${name}.${container}`) ?? ownValue(annotations, SIMULATION + name)
  }

  /** Milliseconds between the binding of the pod and the start of its containers. */
  get startDelay(): number {
    return duration(this.text('start-delay', '')) ?? 0
  }

  /** Milliseconds between the deletion of the pod and its end. */
  get stopDelay(): number {
    return duration(this.text('stop-delay', '')) ?? this.longestHook
  }

  /** Milliseconds that the preStop hooks of running containers take. Restartable init containers stop last. */
  private get longestHook(): number {
    const { containers = [], initContainers = [] } = this.pod.spec ?? {}
    const { containerStatuses = [], initContainerStatuses = [] } = this.pod.status ?? {}
    const running = new Set(
      [...containerStatuses, ...initContainerStatuses].flatMap(({ name, state }) => (state?.running ? [name] : [])),
    )
    const sleep = ({ name, lifecycle }: Container): number => {
      const { sleep, exec } = lifecycle?.preStop ?? {}
      if (!running.has(name)) return 0
      return exec === undefined
        ? durationOf(sleep?.seconds ?? 0)
        : (outcomeOf({ command: [...(exec.command ?? [])] })?.duration ?? 0)
    }
    const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
    return mostOf(containers.map(sleep), 0) + mostOf(sidecars.map(sleep), 0)
  }

  /** Milliseconds between the start of a container and its readiness; undefined: it never becomes ready. */
  readyDelay(container: string): number | undefined {
    if (this.text('ready', container) === 'false') return undefined
    return duration(this.text('ready-delay', container)) ?? 0
  }

  /** Milliseconds after the start of a container at which the probe begins to fail; undefined: no annotation. */
  probeFailsFrom(kind: 'startup' | 'readiness' | 'liveness', container: string): number | undefined {
    const text = this.text(`${kind}-probe`, container)
    return text === 'fail' ? 0 : text === 'succeed' ? Infinity : duration(text)
  }

  exitCode(container: string): number {
    return exitCode(this.text('exit-code', container)) ?? this.command(container)?.exitCode ?? 0
  }

  /** The exit code of commands that clients run in a container. */
  execExitCode(container: string): number {
    return exitCode(this.text('exec-exit-code', container)) ?? 0
  }

  /** The lines that the container logs when it starts. */
  logOf(container: string): readonly string[] {
    const text = this.text('log', container) ?? ''
    return text === '' ? [] : text.replace(/\n$/, '').split('\n')
  }

  /**
   * The output of the container's command. Undefined if the simulation does not understand the whole command, or if an
   * annotation sets the log.
   */
  printedBy(container: string): readonly Printed[] | undefined {
    return this.text('log', container) === undefined ? this.command(container)?.printed : undefined
  }

  /** Milliseconds that an init container runs; undefined: forever. */
  initDuration(container: string): number | undefined {
    return duration(this.text('duration', container)) ?? ending(this.command(container)?.duration ?? 0)
  }

  /**
   * Milliseconds that a container runs; undefined: forever. Containers of Jobs end at once, unless an annotation or
   * their command says otherwise.
   */
  duration(container: string): number | undefined {
    const said = duration(this.text('duration', container))
    if (said !== undefined) return said
    if (exitCode(this.text('exit-code', container)) !== undefined) return 0
    return ending(this.command(container)?.duration ?? (this.isOfJob ? 0 : Infinity))
  }

  private get isOfJob(): boolean {
    return controllerRefOf(this.pod)?.kind === 'Job'
  }

  private command(container: string): CommandOutcome | undefined {
    const { containers = [], initContainers = [] } = this.pod.spec ?? {}
    // few: the containers of one pod
    const found = [...containers, ...initContainers].find(({ name }) => name === container)
    return found && outcomeOf(found)
  }

  /** Milliseconds that an ephemeral container runs. Undefined: forever, if no annotation names the container. */
  ownDuration(container: string): number | undefined {
    return duration(ownValue(this.pod.metadata.annotations, `${SIMULATION}duration.${container}`))
  }

  /** The usage of a container; undefined without an annotation, or if its text is no quantity. */
  usage(resource: 'cpu' | 'memory', container: string): Quantity | undefined {
    return amount(this.text(`usage-${resource}`, container))
  }

  pullsFail(container: string, image: string): boolean {
    return this.text('image-pull', container) === 'fail' || this.isMissing(image)
  }
}
