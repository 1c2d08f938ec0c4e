// What VS Code starts: registers the parts.
import * as vscode from 'vscode';
import { backwards } from './backwards';
import { DynamicConfigurations, InitialConfigurations, Resolver } from './configurations';
import { attach, pickProcess } from './pick_process';
import { AdapterFactory } from './session';
import { whileDebugging } from './while_debugging';

const TYPE = 'dapple';

export function activate(context: vscode.ExtensionContext): void {
    const adapters = new AdapterFactory(context.extensionPath);
    const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
    context.subscriptions.push(
        vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
        vscode.debug.registerDebugConfigurationProvider(TYPE, new Resolver(context.workspaceState, adapters)),
        vscode.debug.registerDebugConfigurationProvider(TYPE, new InitialConfigurations(), Initial),
        vscode.debug.registerDebugConfigurationProvider(TYPE, new DynamicConfigurations(), Dynamic),
        whileDebugging(),
        backwards(),
        vscode.commands.registerCommand('dapple.pickProcess', (configuration?: unknown) => pickProcess(adapters, configuration)),
        vscode.commands.registerCommand('dapple.attach', () => attach(adapters)),
    );
}
