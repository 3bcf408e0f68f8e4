// As much of UnityEngine as the components for correctives touch, and a player for them.
// Reads lines of names and numbers from standard input; prints a line of weights a pose. With a third
// argument the joints' local rotations (xyzw), as the component left them, follow the weights.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;

namespace UnityEngine
{
    public class RequireComponent : Attribute { public RequireComponent(Type type) { } }
    public class TooltipAttribute : Attribute { public TooltipAttribute(string text) { } }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float a, float b, float c, float d) { x = a; y = b; z = c; w = d; }
    }

    public class Transform
    {
        public string name = "";
        public Transform parent;
        public Quaternion localRotation;
        public List<Transform> children = new List<Transform>();
        public T[] GetComponentsInChildren<T>(bool inactive)
        {
            return new[] { this }.Concat(children).Cast<T>().ToArray();
        }
    }

    public class Mesh
    {
        public string[] names;
        public float fullWeight;
        public int blendShapeCount { get { return names.Length; } }
        public string GetBlendShapeName(int index) { return names[index]; }
        public int GetBlendShapeFrameCount(int index) { return 1; }
        public float GetBlendShapeFrameWeight(int index, int frame) { return fullWeight; }
    }

    public class SkinnedMeshRenderer
    {
        public Mesh sharedMesh;
        public float[] shown;
        public void SetBlendShapeWeight(int index, float weight) { shown[index] = weight; }
    }

    public class MonoBehaviour
    {
        public Transform transform;
        public object component;
        public T GetComponent<T>() { return (T)component; }
    }
}

public static class Player
{
    static string[] Words() { return Console.ReadLine().Split('\t'); }

    public static int Main(string[] arguments)
    {
        var type = Assembly.GetExecutingAssembly().GetType(arguments[0]);
        var script = (UnityEngine.MonoBehaviour)Activator.CreateInstance(type);
        var joints = Words();
        var mesh = new UnityEngine.Mesh { names = Words(), fullWeight = float.Parse(arguments[1]) };
        var skin = new UnityEngine.SkinnedMeshRenderer { sharedMesh = mesh };
        skin.shown = new float[mesh.names.Length];
        var root = new UnityEngine.Transform { name = "character" };
        foreach (var name in joints)
            root.children.Add(new UnityEngine.Transform { name = name, parent = root });
        script.transform = new UnityEngine.Transform { name = "body", parent = root };
        script.component = skin;
        Call(script, "Awake");
        for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            var numbers = line.Split('\t')
                .Select(word => float.Parse(word, CultureInfo.InvariantCulture)).ToArray();
            for (int j = 0; j < joints.Length; j++)
                root.children[j].localRotation = new UnityEngine.Quaternion
                {
                    x = numbers[4 * j], y = numbers[4 * j + 1],
                    z = numbers[4 * j + 2], w = numbers[4 * j + 3],
                };
            Call(script, "LateUpdate");
            var told = skin.shown.ToList();
            if (arguments.Length > 2)
                foreach (var joint in root.children)
                {
                    var turn = joint.localRotation;
                    told.AddRange(new[] { turn.x, turn.y, turn.z, turn.w });
                }
            Console.WriteLine(string.Join("\t",
                told.Select(w => w.ToString("G9", CultureInfo.InvariantCulture))));
        }
        return 0;
    }

    static void Call(object target, string method)
    {
        target.GetType().GetMethod(method, BindingFlags.NonPublic | BindingFlags.Instance)
            .Invoke(target, null);
    }
}
