//! The part of the Java Native Interface that the bridge uses. Functions are found by their index in the table
//! of the JNI specification, which is the same on every virtual machine. That specification describes the
//! methods that have no comment here.

const std = @import("std");

pub const Object = ?*opaque {};
pub const Class = Object;
pub const Array = Object;
pub const MethodId = ?*opaque {};

pub const version_1_6: i32 = 0x00010006;

/// jvalue: an argument, by the letter of its type.
pub const Value = extern union { z: u8, i: i32, j: i64, l: Object };

/// JNINativeMethod.
pub const NativeMethod = extern struct {
    name: [*:0]const u8,
    signature: [*:0]const u8,
    function: *const anyopaque,
};

/// JavaVM. Any thread may use it.
pub const Vm = extern struct {
    functions: [*]const *const anyopaque,

    /// The environment of this thread; null if the thread is not attached to the virtual machine.
    pub fn env(vm: *Vm) ?*Env {
        const get_env: *const fn (*Vm, *?*Env, i32) callconv(.c) i32 = @ptrCast(@alignCast(vm.functions[6]));
        var found: ?*Env = null;
        return if (get_env(vm, &found, version_1_6) == 0) found else null;
    }
};

/// JNIEnv. Belongs to one thread. If a result is null, a Java exception is pending. References are local unless
/// said otherwise.
pub const Env = extern struct {
    functions: [*]const *const anyopaque,

    pub fn findClass(env: *Env, name: [*:0]const u8) Class {
        return env.function(6, fn (*Env, [*:0]const u8) callconv(.c) Class)(env, name);
    }

    /// Makes the exception pending; Java sees it when the native method returns.
    pub fn throw(env: *Env, exception: Object) void {
        _ = env.function(13, fn (*Env, Object) callconv(.c) i32)(env, exception);
    }

    /// A reference for all threads, until `deleteGlobalRef`.
    pub fn newGlobalRef(env: *Env, object: Object) Object {
        return env.function(21, fn (*Env, Object) callconv(.c) Object)(env, object);
    }

    pub fn deleteGlobalRef(env: *Env, object: Object) void {
        env.function(22, fn (*Env, Object) callconv(.c) void)(env, object);
    }

    pub fn deleteLocalRef(env: *Env, object: Object) void {
        env.function(23, fn (*Env, Object) callconv(.c) void)(env, object);
    }

    pub fn newObject(env: *Env, class: Class, constructor: MethodId, arguments: []const Value) Object {
        return env.function(30, fn (*Env, Class, MethodId, [*]const Value) callconv(.c) Object)(env, class, constructor, arguments.ptr);
    }

    pub fn methodId(env: *Env, class: Class, name: [*:0]const u8, signature: [*:0]const u8) MethodId {
        return env.function(33, fn (*Env, Class, [*:0]const u8, [*:0]const u8) callconv(.c) MethodId)(env, class, name, signature);
    }

    /// Calls a method that returns an object. Null if it throws: ask `exceptionPending`.
    pub fn callObject(env: *Env, object: Object, method: MethodId, arguments: []const Value) Object {
        return env.function(36, fn (*Env, Object, MethodId, [*]const Value) callconv(.c) Object)(env, object, method, arguments.ptr);
    }

    /// Calls a method that returns an int. 0 if it throws: ask `exceptionPending`.
    pub fn callInt(env: *Env, object: Object, method: MethodId, arguments: []const Value) i32 {
        return env.function(51, fn (*Env, Object, MethodId, [*]const Value) callconv(.c) i32)(env, object, method, arguments.ptr);
    }

    pub fn length(env: *Env, array: Array) usize {
        return @intCast(env.function(171, fn (*Env, Array) callconv(.c) i32)(env, array));
    }

    /// An element of an object array; null for a null element too.
    pub fn element(env: *Env, array: Array, index: i32) Object {
        return env.function(173, fn (*Env, Array, i32) callconv(.c) Object)(env, array, index);
    }

    /// A byte array with a copy. Null also if it would be too long for Java.
    pub fn newBytes(env: *Env, bytes: []const u8) Array {
        const n = std.math.cast(i32, bytes.len) orelse return null;
        const array = env.function(176, fn (*Env, i32) callconv(.c) Array)(env, n) orelse return null;
        env.function(208, fn (*Env, Array, i32, i32, [*]const u8) callconv(.c) void)(env, array, 0, n, bytes.ptr);
        return array;
    }

    /// An int array with a copy. Null also if it would be too long for Java.
    pub fn newInts(env: *Env, ints: []const i32) Array {
        const n = std.math.cast(i32, ints.len) orelse return null;
        const array = env.function(179, fn (*Env, i32) callconv(.c) Array)(env, n) orelse return null;
        env.function(211, fn (*Env, Array, i32, i32, [*]const i32) callconv(.c) void)(env, array, 0, n, ints.ptr);
        return array;
    }

    /// Copies the first `into.len` elements.
    pub fn readBytes(env: *Env, array: Array, into: []u8) void {
        env.function(200, fn (*Env, Array, i32, i32, [*]u8) callconv(.c) void)(env, array, 0, @intCast(into.len), into.ptr);
    }

    /// Copies the first `into.len` elements.
    pub fn readInts(env: *Env, array: Array, into: []i32) void {
        env.function(203, fn (*Env, Array, i32, i32, [*]i32) callconv(.c) void)(env, array, 0, @intCast(into.len), into.ptr);
    }

    /// Copies the first `into.len` elements.
    pub fn readLongs(env: *Env, array: Array, into: []i64) void {
        env.function(204, fn (*Env, Array, i32, i32, [*]i64) callconv(.c) void)(env, array, 0, @intCast(into.len), into.ptr);
    }

    /// Copies to the first elements of an int array.
    pub fn writeInts(env: *Env, array: Array, ints: []const i32) void {
        env.function(211, fn (*Env, Array, i32, i32, [*]const i32) callconv(.c) void)(env, array, 0, @intCast(ints.len), ints.ptr);
    }

    /// The floats themselves, until `releaseFloats`: no other function of this environment may be called in between.
    pub fn criticalFloats(env: *Env, array: Array) ?[*]f32 {
        return env.function(222, fn (*Env, Array, ?*u8) callconv(.c) ?[*]f32)(env, array, null);
    }

    pub fn releaseFloats(env: *Env, array: Array, floats: [*]f32) void {
        env.function(223, fn (*Env, Array, [*]f32, i32) callconv(.c) void)(env, array, floats, 0);
    }

    /// False if a method is not the class's.
    pub fn registerNatives(env: *Env, class: Class, methods: []const NativeMethod) bool {
        const register = env.function(215, fn (*Env, Class, [*]const NativeMethod, i32) callconv(.c) i32);
        return register(env, class, methods.ptr, @intCast(methods.len)) == 0;
    }

    pub fn exceptionPending(env: *Env) bool {
        return env.function(228, fn (*Env) callconv(.c) u8)(env) != 0;
    }

    fn function(env: *Env, comptime index: usize, comptime Function: type) *const Function {
        return @ptrCast(@alignCast(env.functions[index]));
    }
};
