// Places for a configuration's `on`: an sshd of the run's own on the loopback, and a container of namespaces. What a session leaves there is in a
// folder of the run's own. A place's processes are killed at the end of this one.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ok } from 'node:assert/strict';
import { until } from './until.mjs';

const SSH = '/usr/bin/ssh';
/** By its whole path: sshd runs itself again. */
const SSHD = process.env.DAPPLE_SSHD ?? '/usr/sbin/sshd';

const NAMESPACES = ['--mount', '--pid', '--fork', '--mount-proc', '--map-root-user', '--kill-child'];

/** A place that a command leads to. */
class Place {
    /**
     * @param folder an empty one that is this place's own
     * @param words the command
     */
    constructor(folder, words) {
        this.folder = folder;
        this.words = words;
        this.temporary = join(folder, 'tmp');
        this.cache = join(folder, 'cache');
    }

    /** Runs a command there, and returns what it prints. */
    run(...words) {
        const [program, ...more] = [...this.words, ...words];
        const { status, stdout, stderr, error } = spawnSync(program, more, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
        if (status !== 0) throw new Error(`${words.join(' ')}: ${error ?? stderr}`);
        return stdout;
    }

    /** The paths of the files and folders that are kept there or temporary. */
    files() {
        return this.run('find', this.temporary, this.cache, '-mindepth', '1').split('\n').filter(Boolean).sort();
    }

    /** Processes that a command has started there: `{ pid, exe }`. They are known by the variable that says where temporary files go. */
    processes() {
        const mark = `TMPDIR=${this.temporary}`;
        const found = [];
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
            try {
                if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) continue;
                found.push({ pid: Number(pid), exe: readlinkSync(`/proc/${pid}/exe`) });
            } catch {
                // It has ended meanwhile, or is another user's.
            }
        }
        return found;
    }

    /** Starts the process that the place lives by. */
    keep(program, more, stdio) {
        this.process = spawn(program, more, { stdio });
        this.kill = () => this.process.kill('SIGKILL');
        process.once('exit', this.kill);
    }

    /** Ends the place. */
    async stop() {
        const ended = new Promise((resolve) => this.process.once('exit', resolve));
        this.kill();
        await ended;
        process.off('exit', this.kill);
    }
}

/** This machine, reached by ssh as the host `board` of a configuration of its own. */
export class Board extends Place {
    /** Whether there are ssh and sshd, or should be. */
    static isPossible() {
        return 'DAPPLE_SSHD' in process.env || [SSH, SSHD].every((program) => existsSync(program));
    }

    constructor(folder) {
        super(folder, [SSH, '-F', join(folder, 'ssh_config'), 'board']);
    }

    /** Starts the server, and resolves to its port. */
    async start() {
        const { folder } = this;
        for (const program of [SSH, SSHD]) ok(existsSync(program), `${program} is not there`);
        for (const made of [this.temporary, this.cache]) mkdirSync(made, { recursive: true });
        for (const key of ['host', 'own']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)]);
        // Debian's sshd wants it of root.
        if (process.getuid() === 0) mkdirSync('/run/sshd', { recursive: true });
        const port = await freePort();
        const server = [
            `ListenAddress 127.0.0.1:${port}`,
            `HostKey ${folder}/host`,
            `AuthorizedKeysFile ${folder}/own.pub`,
            'StrictModes no',
            'PidFile none',
            'UsePAM no',
            'PasswordAuthentication no',
            'KbdInteractiveAuthentication no',
            `SetEnv XDG_CACHE_HOME=${this.cache} TMPDIR=${this.temporary}`,
        ];
        const client = [
            'Host board',
            'HostName 127.0.0.1',
            `Port ${port}`,
            `IdentityFile ${folder}/own`,
            'IdentitiesOnly yes',
            `UserKnownHostsFile ${folder}/known`,
            'StrictHostKeyChecking accept-new',
            'LogLevel ERROR',
        ];
        writeFileSync(join(folder, 'sshd_config'), lines(server));
        writeFileSync(join(folder, 'ssh_config'), lines(client));
        this.keep(SSHD, ['-D', '-E', join(folder, 'sshd.log'), '-f', join(folder, 'sshd_config')], 'ignore');
        await until('the answer of sshd', () => this.run('echo', 'ready'), (said) => said === 'ready\n');
        return port;
    }

    /** The server's processes that have a connection each. */
    connections() {
        return children(this.process.pid);
    }

    /** Writes a program that is `dapple` with an `ssh` that knows the host: ssh asks neither HOME nor a variable for its configuration. */
    writeAdapter(path, dapple) {
        const bin = join(this.folder, 'bin');
        mkdirSync(bin, { recursive: true });
        script(join(bin, 'ssh'), `exec ${SSH} -F ${this.folder}/ssh_config "$@"`);
        script(path, `PATH=${bin}:$PATH exec ${dapple} "$@"`);
    }
}

/** Mount and process namespaces, in which the folder is empty at first, and only there has what is put into it. */
export class Container extends Place {
    constructor(folder) {
        // The process to enter isn't known before the start.
        super(folder, [`${folder}-enter`]);
    }

    /** Whether the kernel lets this user have namespaces. */
    static isPossible() {
        return spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;
    }

    /** `setup`: commands that are run in it first. */
    async start(setup) {
        const { folder } = this;
        mkdirSync(folder, { recursive: true });
        const commands = `mount -t tmpfs tmpfs ${folder} && cd ${folder} && mkdir tmp cache && ${setup} && echo ready && read line`;
        this.keep('unshare', [...NAMESPACES, 'sh', '-c', commands], ['pipe', 'pipe', 'inherit']);
        await new Promise((resolve, reject) => {
            this.process.once('exit', (code) => reject(new Error(`the container ended with ${code}: ${setup}`)));
            this.process.stdout.setEncoding('utf8').on('data', (text) => text.includes('ready\n') && resolve());
        });
        const [inside] = children(this.process.pid);
        const variables = `XDG_CACHE_HOME=${this.cache} TMPDIR=${this.temporary}`;
        script(this.words[0], `exec nsenter -t ${inside} -U -m -p --preserve-credentials env ${variables} "$@"`);
    }
}

/** The processes that the first thread of another one has started. */
function children(pid) {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

function lines(texts) {
    return texts.map((text) => `${text}\n`).join('');
}

function script(path, text) {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
}

function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer();
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}
